"""A visit keeps every button it has met until it ends, so what a button holds must be small."""

import types
from gc import get_referents

import pytest
import torch
from visiting import open_page

from attention_core.learning.training import TrainingSettings
from attention_core.model.sampling import Sampling
from attention_ui.contents import CONTENTS
from attention_ui.writing.screens import written_ahead
from attention_ui.writing.writers import shipped

SHARED = types.ModuleType | type | types.CodeType | types.BuiltinFunctionType
NEEDED = TrainingSettings  # and the text to learn in them, which is short


def held(thing):
    """Everything that cannot be forgotten while this is kept, but for code, which is there anyway."""
    found, waiting = {}, [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in found or isinstance(one, SHARED | NEEDED):
            continue
        found[id(one)] = one
        if isinstance(one, types.FunctionType):
            waiting += [one.__closure__, one.__defaults__]
        else:
            waiting += get_referents(one)
    return list(found.values())


PAGES = [(entry.file.removesuffix(".py"), {}) for entry in CONTENTS]


@pytest.mark.parametrize(("page", "link"), [*PAGES, ("start/overview", {"picture": "model", "example": None})])
def test_no_button_holds_a_tensor(page, link):
    controls = described(open_page(page, **link)).values()
    assert page == "model/read" or any(control.callback_args for control in controls)  # which waits for its model
    for control in controls:
        holds = held([control.callback, control.callback_args, control.callback_kwargs])
        assert not [thing for thing in holds if isinstance(thing, torch.Tensor)], control.id


def described(at):
    """The controls that Streamlit knows of in this visit, by their names."""
    return at.session_state._state._state._new_widget_state.widget_metadata


def test_a_text_is_kept_without_the_numbers_that_led_to_it():
    writer = shipped("notebook")
    ahead = written_ahead(writer.checkpoint, ("h",), 13, Sampling(), 5)
    assert len(ahead) == 13 and not [thing for thing in held(ahead) if isinstance(thing, torch.Tensor)]
