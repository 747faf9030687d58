"""Attention, one small pure function per step: the mathematics of Attention Lab.

It imports torch, numpy, jaxtyping and the standard library, and safetensors for the files of `checkpoint` alone;
never Streamlit, Altair or pandas, so that everything here also runs in a notebook.

Reading order
    tokens        text → tokens → ids
    embeddings    ids → vectors
    attention     scores, scaling, mask, softmax, weighted sum: `attend`
    masks         who may look at whom
    heads         several attentions side by side
    examples      the running example that every lesson shows
    edits         numbers in it changed by hand; changes: what follows from them, cell by cell
    many_heads    several heads on one sentence: how they differ and what each can see; then its captions
    captions      sentences computed from the numbers
    arithmetic    the numbers behind any cell, down to X and W; `sheets` and the modules ending so: of each figure
    lessons       what single lessons compute; measures: what the size of d_k does
    permutation   attention over permuted tokens, with positions and without
    pytorch_parity  the same weights in PyTorch's own functions, and every difference
    reference     the same attention with loops and with NumPy
    quiz          questions about the current tensors, each with one right answer
    model         a small transformer made of `attend`
    tasks         what there is to learn
    backward      the same steps backwards
    optimiser     from gradients to better weights
    weights       all weights of a model in one vector, and models to borrow for one
    training      `train`: an iterator of steps; recordings and runs (shelf: where recordings keep weights)
    sampling      logits → the next token: temperature, top-k, top-p, one draw
    generation    token after token, with what led to each
    checkpoint    a trained model as a file, and back
    scheduler     one thread that trains for everybody; turns: who computes next
    observe       what can be seen of a trained model
    comparison    two runs side by side
    randomness    where every random number comes from

Axes, as the shape annotations name them
    queries, keys        tokens that ask, tokens that answer (the same tokens in self-attention)
    tokens               tokens, where it does not matter who asks
    d_model              features of a token
    d_k, d_v             features of a query or key, and of a value
    heads, d_head        attention heads, and the features each of them works with
    vocabulary           the different tokens a model knows
    *batch               any number of leading axes: heads, sentences of a batch, or none
"""
