"""Parts of one whole: weights, votes, the maps of many heads."""
