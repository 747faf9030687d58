"""Questions of every lesson, each with its cards and the sentence that mends a wrong choice. `base` makes them."""
