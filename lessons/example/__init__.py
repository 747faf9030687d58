"""The running example: where its tokens, vectors and weights come from, and what is computed from them."""
