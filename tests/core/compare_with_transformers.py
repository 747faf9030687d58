"""Real models, ours and `transformers`' own reading of the same files: the largest difference of a weight and of what
leaves the model.

    python tests/core/compare_with_transformers.py SmolLM2-135M-Instruct.Q4_1.gguf all-MiniLM-L6-v2

Each argument is a GGUF file or a folder of the hub. It takes a minute of one core and two
gigabytes; to read GGUF files, `transformers` wants the package accelerate.
"""

import mmap
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).parent.parent.parent
TEXTS = (
    "The cat sat on the mat because it was tired",
    "Ça va? Zürich, 東京。 naïve café, and 3.14 or 2024!",
    "def f(x):\n    return x**2  # two  spaces\n",
    "When Mary and John went to the store, John gave a drink to",
)


def ours(path):
    """The model and the tokenizer, as the core reads them."""
    from attention_core.stored.gguf_file import read_gguf
    from attention_core.stored.gguf_llama import gguf_model
    from attention_core.stored.hub_folder import hub_model
    from attention_core.stored.tokenizing import gguf_tokenizer, hub_tokenizer

    if path.is_dir():
        return hub_model(path), hub_tokenizer(path)
    with open(path, "rb") as opened:
        file = read_gguf(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    return gguf_model(file), gguf_tokenizer(file.settings)


def theirs(path):
    """The model and the tokenizer, as `transformers` reads them."""
    folder, named = (path, {}) if path.is_dir() else (path.parent, {"gguf_file": path.name})
    encoder = path.is_dir() and AutoConfig.from_pretrained(folder).model_type == "bert"
    auto = AutoModel if encoder else AutoModelForCausalLM
    model = auto.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32, **named)
    return model.eval(), AutoTokenizer.from_pretrained(folder, **named)


def fed_with(model):
    """The classes of `transformers` with the very tensors of a model of the kind of Llama."""
    from test_gguf import hub_names
    from transformers import LlamaConfig, LlamaForCausalLM

    config = model.config
    built = LlamaConfig(
        vocab_size=config.vocabulary,
        hidden_size=config.d_model,
        intermediate_size=config.d_hidden,
        num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.kv_heads,
        head_dim=config.d_head,
        rms_norm_eps=config.epsilon,
        max_position_embeddings=config.context,
        rope_parameters={"rope_type": "default", "rope_theta": config.rotary.base},
        tie_word_embeddings=config.unembedding == "tied",
    )
    fed = LlamaForCausalLM._from_config(built, attn_implementation="eager").eval()
    fed.load_state_dict(hub_names(model, fed))
    return fed


def largest_differences(model, other, ids):
    """Of the weights of all heads, and of what leaves the model."""
    with torch.inference_mode():
        trace, found = model(ids), other(ids[None], output_attentions=True)
    weights = torch.stack([layer.attention.heads.weights for layer in trace.layers])
    last = found.logits if "logits" in found else found.last_hidden_state
    return float((weights - torch.cat(found.attentions)).abs().max()), float((trace.logits - last[0]).abs().max())


def main(paths):
    for path in map(Path, paths):
        (model, tokenizer), (other, their_tokenizer) = ours(path), theirs(path)
        others = {"its own reading": other} | ({} if path.is_dir() else {"fed with our tensors": fed_with(model)})
        same = sum(tokenizer.encode(text).ids == their_tokenizer(text)["input_ids"] for text in TEXTS)
        print(f"{path.name}: {same} of {len(TEXTS)} texts have the same ids")
        for name, compared in others.items():
            found = [largest_differences(model, compared, torch.tensor(tokenizer.encode(text).ids)) for text in TEXTS]
            weights, last = (max(column) for column in zip(*found, strict=True))
            print(f"  beside transformers, {name}: weights {weights:.1e}, what leaves the model {last:.1e}")


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    main(sys.argv[1:])
