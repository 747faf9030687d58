"""Models as others have stored them: from the bytes of their files to a `Transformer` and a tokenizer.

Order of reading
    blocks          numbers of few bits, a block at a time, back to numbers
    gguf_file       the file of llama.cpp: settings, then tensors
    gguf_llama      what such a file says of a model of the kind of Llama, and the names of its weights there and here
    few_bits        such a model, its weights kept as they lie in the file
    architectures   what a folder of the hub says of a model, and the names of its weights there and here
    hub_folder      a folder of the hub: settings, weights, tokenizer
    tokenizing      text → ids, by the package `tokenizers`
    room            whether a model fits the memory

Nothing here runs what a file contains: there is no pickle. A file that is cut short, or that asks for what is not
computed here, is refused in one sentence.
"""
