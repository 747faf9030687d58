"""Heads to be built by hand: where each should attend, how well it does, a solution of ours, and a trained one.

base      what a puzzle is; its sentences; where a head of given weights attends, and how well it does
levels    the puzzles, from the easiest on, each with a solution
trained   the weights of a puzzle found by training
"""

from attention_core.puzzles.base import (
    LARGEST,
    OTHERS,
    Puzzle,
    Sentences,
    Weights,
    best_of_one_head,
    heads_of,
    other_sentences,
    score_sentences,
)
from attention_core.puzzles.levels import PUZZLES
from attention_core.puzzles.trained import TrainedWeights, train_puzzle

__all__ = [
    "LARGEST",
    "OTHERS",
    "PUZZLES",
    "Puzzle",
    "Sentences",
    "TrainedWeights",
    "Weights",
    "best_of_one_head",
    "heads_of",
    "other_sentences",
    "score_sentences",
    "train_puzzle",
]
