"""Attention, one small pure function per step: the mathematics of Attention Lab.

It imports numpy, torch, jaxtyping, safetensors and the standard library, and where it reads the models of others
tokenizers and gguf: never a lesson, a thread that trains, Streamlit, Altair or pandas. So everything here also runs
in a notebook.

Order of reading, room by room
    base
        arrays          NumPy arrays and torch tensors: one source for both
        errors          what is said of an input that cannot be used
        inputs          what may be given to attention, and what is said of anything else
        randomness      where every random number comes from
        traces          what is computed on the way, kept under its names
        traced          arrays that remember how each of their numbers was made
    text
        tokens          text → tokens → ids
        byte_pairs      text → bytes → pieces → ids, as most models read it today
        embeddings      ids → vectors; vectors for positions
        positions       what is added or turned for a position, and how alike positions are over distance
    one_head
        attention       scores, scaling, mask, softmax, weighted sum: `attend` and its trace
        head            one head, from the rows of X and its maps to its output
        masks           which query may attend to which key
        distances       windows, global tokens, ALiBi
        online_softmax  the same attention block by block, as FlashAttention computes it
        reference       the same attention with loops and with NumPy
        heads           several attentions side by side
        turning         the features of a head in another basis, which changes no score
    model
        parts           what stands beside attention in a layer: norms and the MLP
        weights         the weights of a model by their names, in one vector, and in other numbers
        transformer     the model: embedding, layers of attention and MLP, a score for each next token
        small_model     the models that are trained here: what may be chosen, and the first weights
        family          the models of today: their sizes, and how one is made of its weights
        cache           keys and values kept from token to token
        sampling        logits → the next token: temperature, top-k, top-p, one draw
        generation      token after token, with what led to each
    learning
        tasks           what there is to learn
        losses          how wrong a model is, as one number
        gradients       the names of the gradients of attention
        backward        how every gradient is found: the forward pass in reverse order
        optimiser       from gradients to better weights
        evaluation      how good a model is at what it is not trained on
        training        `train`: an iterator of steps; several runs side by side
        finite_differences  the loss near some weights, measured: gradients without a chain rule
    measured
        permutation     the same tokens in another order: does attention know?
        parity          the same heads in PyTorch's own functions, and every difference
        measures        what the size of d_k does
        head_patterns   which keys a head might look at, by what they are to the query
        head_measures   how much heads differ, and what each of them can see
        observe         what can be seen of a trained model: attention, ablation
        sliding         what a cache changes once the window of a text slides
        costs           what a layer takes: multiplications, numbers moved and kept
    stored              models as others have stored them: from the bytes of their files
    puzzles             heads to be built by hand: how well given weights do, and what training finds

Axes, as the shape annotations name them
    queries, keys        the tokens that attend, the tokens attended to (the same in self-attention)
    tokens               where queries and keys need not be told apart
    d_model              features of a token
    d_k, d_v             features of a query or key, and of a value
    heads, d_head        attention heads, and the features each of them works with
    layers, roles        layers of a model, and what a task asks of its heads
    vocabulary           the different tokens a model knows
    parameters           all weights of a model, one after the other
    *batch               any number of leading axes: heads, sentences of a batch, or none
    *runs                an axis in front for runs that train together, or none

Words
    trace                every tensor of a computation, in the order in which it is computed
    position             the index of a token in its sentence, counted from 0
    may_attend, visible  masks, True where a query may attend to a key
    projection           a matrix W_q, W_k or W_v, used as x @ W
    ablate               to set the output of a head to zero
    target, role         the right token at a position; where a perfect head attends to find it
    baseline             a loss that means something: what one reaches knowing only so much
    d_x                  the gradient of the loss with respect to x, of the shape of x
"""
