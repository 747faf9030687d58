"""Real models: where their files lie, how they come here, and how one process or many share them.

The mathematics is `attention_core`'s, which reads the files; a lesson is handed a model that is loaded. Nothing in here
asks another host for anything unless somebody has asked for it.

    settings   which index of packages pip or uv is set to, and how it is reached
    index      an index of packages: where a file lies, and the file itself, piece by piece
    wheels     the two models that packages bring, and what is taken out of them
    disk       large files: one process writes, and says where there is no room
    fetch      one download a machine: its lock, its progress, how it is begun and given up
    folders    models of one's own, found by name
    store      the weights in one mapped file, written once
    shared     what is computed once, whoever asks
    opening    one model a process; equal texts are computed once
    measured   what is measured of a model once a machine, in the background
"""
