"""The language model of the page `read`: where its text comes from, how it is trained, what is measured of it."""
