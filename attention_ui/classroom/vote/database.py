"""Which database keeps the classes, and what is known of it while it cannot be reached."""

import functools
import os
import sqlite3

from attention_ui.process.turns import outside_turn
from classes.keeper import Keeper
from classes.prompt import PromptKeeper
from classes.stages import UnreachableError, told_as

FOLDER_OF_CLASSES, URL_OF_CLASSES = "ATTENTION_LAB_CLASSES", "ATTENTION_LAB_CLASSES_URL"
NOT_KEPT = told_as("This server cannot keep classes at the moment; its operator will find the reason in its log.")


@functools.lru_cache(maxsize=1)
def class_keeper() -> PromptKeeper:
    """The database of this process. While a page waits for it, others are computed."""
    return PromptKeeper(make_keeper, outside_turn)


def make_keeper() -> Keeper:
    """PostgreSQL where its address is set, else SQLite."""
    try:
        if url := os.environ.get(URL_OF_CLASSES):
            from classes.postgres import PostgresKeeper  # a package that only several processes need

            return PostgresKeeper(url)
        return Keeper(os.environ.get(FOLDER_OF_CLASSES) or None)
    except (OSError, sqlite3.Error, ImportError) as error:
        raise UnreachableError(NOT_KEPT) from error


def has_classes() -> bool:
    """True where this process is set to keep classes, or has kept any."""
    return bool(
        os.environ.get(URL_OF_CLASSES) or os.environ.get(FOLDER_OF_CLASSES) or class_keeper.cache_info().currsize
    )


def forget_old_classes() -> None:
    """Delete the classes whose time is over, where this process has any."""
    if has_classes():
        class_keeper().forget()


def database_problem() -> str | None:
    """What is wrong with the database, as those found it who asked it last: this asks nobody."""
    return class_keeper().problem if class_keeper.cache_info().currsize else None
