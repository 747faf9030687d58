"""Models as others have stored them: from the bytes of their files to a `Transformer` and a tokenizer.

Order of reading
    blocks          numbers of few bits, a block at a time, back to floating-point numbers
    gguf_file       the file of llama.cpp: settings, then tensors
    gguf_llama      a model of the kind of Llama in a GGUF file: its settings, and the names of its weights
    few_bits        a model of the kind of Llama whose weights stay in few bits, as in the file
    architectures   what a folder of the hub says of a model, and the names of its weights
    hub_folder      a folder of the hub: settings, weights, tokenizer
    tokenizing      text → ids, by the package `tokenizers`
    room            whether a model fits the memory

Nothing here runs what a file contains: there is no pickle. A file that is cut short, or that asks for what is not
computed here, is refused in one sentence.
"""
