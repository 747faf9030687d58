"""A visit keeps every button it has met until it ends, so what a button holds must be small."""

import types
from gc import get_referents
from types import SimpleNamespace

import pytest
import torch
from streamlit.runtime.state.session_state import KeyIdMapper
from visiting import ROOT, open_page

from attention_core.sampling import Sampling
from attention_core.training import TrainingSettings
from attention_ui import session
from attention_ui.contents import CONTENTS
from attention_ui.writers import shipped
from attention_ui.writing_view import written_ahead

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


@pytest.mark.parametrize("page", [entry.file.removesuffix(".py") for entry in CONTENTS])
def test_no_button_holds_a_tensor(page):
    controls = described(open_page(page)).values()
    assert any(control.callback_args for control in controls)
    for control in controls:
        holds = held([control.callback, control.callback_args, control.callback_kwargs])
        assert not [thing for thing in holds if isinstance(thing, torch.Tensor)], control.id


def described(at):
    """The controls that Streamlit knows of in this visit, by their names."""
    return at.session_state._state._state._new_widget_state.widget_metadata


def buttons(at):
    """Those of them that are buttons. What else a link binds, Streamlit itself may keep."""
    return {name for name, control in described(at).items() if control.value_type == "trigger_value"}


def test_buttons_of_a_page_that_was_left_are_forgotten():
    at = open_page("one_head/scores", d_k=3)
    there = buttons(at)
    at.switch_page(str(ROOT / "pages/one_head/tokens.py")).run()
    assert there & buttons(at) - buttons(open_page("one_head/tokens")), "this page is drawn before they are forgotten"
    assert buttons(at.run()) == buttons(open_page("one_head/tokens"))
    at.switch_page(str(ROOT / "pages/one_head/scores.py")).run()
    assert buttons(at.run()) == there and at.slider(key="d_k").value == 3


def named(at):
    """The controls whose names Streamlit knows in this visit, and those of them that the address binds."""
    state = at.session_state._state._state
    return set(state._key_id_mapper.id_key_mapping), set(state._query_param_bound_widget_ids)


def test_names_of_a_page_that_was_left_are_forgotten_but_those_that_the_address_binds():
    at = open_page("one_head/scores", d_k=3)
    before, _ = named(at)
    at.switch_page(str(ROOT / "pages/one_head/tokens.py")).run()
    names, bound = named(at.run())
    new, _ = named(open_page("one_head/tokens"))
    assert new <= names and names - new <= bound
    assert before - names, "some are forgotten"
    assert before & names - new, "and some are not"
    at.switch_page(str(ROOT / "pages/one_head/scores.py")).run()
    assert named(at.run())[0] >= before and at.slider(key="d_k").value == 3


def test_of_a_control_that_was_replaced_only_the_newest_is_remembered():
    mapper = KeyIdMapper()
    for control, name in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c"), ("d1", "d")):
        mapper[name] = control
    state = SimpleNamespace(_key_id_mapper=mapper, _query_param_bound_widget_ids={"a1", "a2", "d1"})
    session.forget_left_names(state, {"b2"})
    assert mapper.id_key_mapping == {"a2": "a", "b2": "b", "d1": "d"}
    assert {name: mapper.get_id_from_key(name) for name in "abcd"} == {"a": "a2", "b": "b2", "c": None, "d": "d1"}


@pytest.mark.parametrize("missing", ["_key_id_mapper", "_id_key_mapping", "_key_id_mapping", "bound"])
def test_where_streamlit_keeps_its_names_elsewhere_they_stay(missing):
    names, controls = {"a1": "a"}, {"a": "a1"}
    mapper = SimpleNamespace(_id_key_mapping=names, _key_id_mapping=controls)
    state = SimpleNamespace(_key_id_mapper=mapper, _query_param_bound_widget_ids=set())
    for part in (state, mapper):
        vars(part).pop("_query_param_bound_widget_ids" if missing == "bound" else missing, None)
    session.forget_left_names(state, set())
    assert names == {"a1": "a"} and controls == {"a": "a1"}


@pytest.mark.parametrize("missing", ["the page", "_new_widget_state", "_old_state", "widget_metadata", "states"])
def test_where_streamlit_keeps_its_controls_elsewhere_they_stay(monkeypatch, missing):
    descriptions = {"left": 1}
    controls = SimpleNamespace(widget_metadata=descriptions, states={})
    state = SimpleNamespace(_new_widget_state=controls, _old_state={})
    context = SimpleNamespace(session_state=SimpleNamespace(_state=state))
    monkeypatch.setattr(session, "get_script_run_ctx", lambda **_: None if missing == "the page" else context)
    for part in (state, controls):
        vars(part).pop(missing, None)
    session.forget_left_controls()
    assert descriptions == {"left": 1}


def test_a_text_is_kept_without_the_numbers_that_led_to_it():
    writer = shipped("notebook")
    ahead = written_ahead(writer.checkpoint, ("h",), 13, Sampling(), 5)
    assert len(ahead) == 13 and not [thing for thing in held(ahead) if isinstance(thing, torch.Tensor)]
