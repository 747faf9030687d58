"""Classes that vote: a code, a question at a time, and one vote for each random token. Standard library alone.

Nothing in here knows what a question is: it is a text that whoever asks it can make a question of again. There are no
names and no addresses, only counts and tokens; after a day a class is forgotten.

`stages` says what follows what, `keys` what opens what, `keeper` keeps it; `postgres` is the same keeper for several
processes, and `limits` says what one address may do.
"""
