"""The theme that the browser is told is the one that Streamlit would write, and is written once."""

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from attention_ui.server.themes import NAME, write_theme_once

SECTIONS = ["theme", *(f"theme.{category.value}" for category in config.CustomThemeCategories)]


@pytest.fixture(autouse=True)
def streamlits_own(monkeypatch):
    """What Streamlit does is there before each test, and again after it."""
    own = getattr(app_session, NAME)
    monkeypatch.setattr(app_session, NAME, own)
    return own


def told(write, section):
    """What is said of a section, in a message that says other things already."""
    message = CustomThemeConfig(primary_color="#123456")
    write(message, section)
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_what_streamlit_writes(section, streamlits_own):
    expected = told(streamlits_own, section)
    assert write_theme_once()
    assert getattr(app_session, NAME) is not streamlits_own
    assert [told(getattr(app_session, NAME), section) for _ in range(3)] == [expected] * 3


def test_some_sections_say_something_and_an_empty_one_is_left_out(streamlits_own):
    assert write_theme_once()
    assert len({told(getattr(app_session, NAME), section) for section in SECTIONS}) >= 3
    message = CustomThemeConfig()
    getattr(app_session, NAME)(message.sidebar, "theme.sidebar")
    assert not message.HasField("sidebar")


def test_the_options_are_looked_through_once(monkeypatch):
    assert write_theme_once()
    write = getattr(app_session, NAME)
    expected = told(write, "theme")
    monkeypatch.setattr(config, "get_options_for_section", lambda section: pytest.fail("looked again"))
    assert told(write, "theme") == expected


def test_a_second_time_changes_nothing():
    assert write_theme_once()
    first = getattr(app_session, NAME)
    assert write_theme_once() and getattr(app_session, NAME) is first


def test_a_streamlit_that_does_it_in_another_way_is_left_alone(monkeypatch):
    def other(message):
        """Takes no section."""

    monkeypatch.setattr(app_session, NAME, other)
    assert not write_theme_once() and getattr(app_session, NAME) is other
    monkeypatch.delattr(app_session, NAME)
    assert not write_theme_once() and not hasattr(app_session, NAME)
