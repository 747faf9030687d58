"""Which language model a visit has chosen, there or not on this machine."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import streamlit as st

from attention_core.base.errors import InputError
from attention_ui.process.real_models import smollm2
from attention_ui.session.links import text_in_link
from attention_ui.state import get_state
from lessons.example.real_model import DEFAULT_TEXT, cut_text
from lessons.example.real_model import SMOLLM2 as SMOLLM2_NAME
from lessons.screen import Message, message, reason
from models.disk import DiskError
from models.folders import CACHE, OWN, ModelFiles, offered_models
from models.opening import SharedModel, shared_model
from models.wheels import MINILM

CHOSEN = "language_model"  # the name of the choice, in links and as the key of its control
LEAST_CONTEXT = 256  # tokens: a text to begin with, and those that a page lets it write
FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LOOK_AGAIN_SECONDS = 10  # so long a new file in a folder may wait until it is offered


@dataclass(frozen=True, eq=False)
class ChosenModel:
    """The language model of a visit; None where it is not on this machine. `note` says why it is not the one chosen."""

    model: SharedModel | None
    note: Message | None = None


def real_model() -> SharedModel | None:
    """The model that reads real sentences in this visit; None where it has not been fetched, or cannot be opened."""
    return chosen_model().model


def chosen_model() -> ChosenModel:
    """The model that was chosen by its name; SmolLM2 where none was, and where it cannot be used."""
    name = get_state(CHOSEN) or text_in_link(CHOSEN) or SMOLLM2_NAME
    files = language_models().get(name)
    if name == SMOLLM2_NAME or files is None:
        return ChosenModel(smollm2())
    try:
        return ChosenModel(language_model(files))
    except (InputError, DiskError) as error:
        why = message(
            "{model} cannot be used: {why}. In its place {usual} is used.",
            model=name,
            why=reason(error),
            usual=SMOLLM2_NAME,
        )
        return ChosenModel(smollm2(), why)


def language_model(files: ModelFiles) -> SharedModel:
    """The model of these files. Raises InputError and DiskError where it cannot be opened, or says no next token."""
    model = shared_model(files)
    config = model.kept.config
    if not config.causal or config.unembedding == "none":
        raise InputError("expected a model that predicts the next token from those before it, but this one does not")
    if config.context < LEAST_CONTEXT:
        raise InputError(
            "expected a model that sees at least {least} tokens at once, but this one sees {context}",
            least=LEAST_CONTEXT,
            context=config.context,
        )
    if model.n_tokens > config.vocabulary:
        raise InputError(
            "expected a row of the embedding table for each of its {tokens} tokens, but the table has {rows}",
            tokens=model.n_tokens,
            rows=config.vocabulary,
        )
    if not cut_text(model, DEFAULT_TEXT).ids:
        raise InputError(
            "expected a tokenizer that makes tokens of “{text}”, but this one makes none", text=DEFAULT_TEXT
        )
    return model


def language_models() -> Mapping[str, ModelFiles | None]:
    """The models that can be chosen, by name: SmolLM2, here or not, and those of one's own folders."""
    moment, local = int(time.monotonic() / LOOK_AGAIN_SECONDS), is_local(st.context.headers, st.context.ip_address)
    return found_models(os.environ.get(OWN), os.environ.get(CACHE), local, moment)


def is_local(headers: Mapping[str, str], address: str | None) -> bool:
    """True for whoever sits at the machine: Streamlit says no address of them, and their browser has opened localhost.

    A proxy on the machine has no address either, but the browser says as its origin what stands in its address bar.
    """
    proxied = any(name in headers for name in FORWARDED)
    return address is None and not proxied and urlsplit(headers.get("Origin") or "").hostname in LOOPBACK


@lru_cache(maxsize=4)
def found_models(own: str | None, cache: str | None, loopback: bool, moment: int) -> Mapping[str, ModelFiles | None]:
    """What is found in the folders of these settings at one moment: nobody walks through them at every draw."""
    offered = {name: files for name, files in offered_models(loopback).items() if name != MINILM.name}
    return {SMOLLM2_NAME: None} | offered
