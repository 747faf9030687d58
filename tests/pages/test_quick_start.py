"""The first screen comes without PyTorch; it is imported once the screen is seen, or for whoever asks for more."""

import subprocess
import sys
import threading

import pytest
from visiting import ROOT, asked, chart, open_page

from attention_ui.controls import example, pictures
from attention_ui.process import real_models
from attention_ui.process.real_models import begin_opening
from lessons.shared.shared_choices import QUERY
from lessons.start.overview.matrices_view import STEP
from models import opening
from models.shared import Once

FIRST_VISIT = """
import sys
import app
app.start_up()
from streamlit.testing.v1 import AppTest
from tests.figures import TABLES_KIND
at = AppTest.from_file("attention_ui/frame.py", default_timeout=60).run()
assert not at.exception and "80%" in at.markdown[0].value and at.get(TABLES_KIND)
print(*{"torch", "altair", "scipy", "gguf", "tokenizers", "transformers"} & set(sys.modules))
"""


def test_a_fresh_process_shows_its_first_screen_without_torch():
    ran = subprocess.run([sys.executable, "-c", FIRST_VISIT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not ran.stdout.split()


def first(**link):
    return open_page(**({"example": None, "picture": None, "cover": None} | link))


@pytest.fixture
def opens_late(smollm2, monkeypatch):
    """The model is on the machine, and opened when the event is set."""
    may_open, found = threading.Event(), opening.open_model

    def open_model(files):
        assert may_open.wait(30)
        return found(files)

    monkeypatch.setattr(opening, "MODELS", Once(3, lambda _: 1))
    monkeypatch.setattr(opening, "open_model", open_model)
    monkeypatch.setattr(real_models, "OPENING", {})
    yield may_open
    may_open.set()


def test_the_layer_that_ships_is_at_work_until_the_model_is_open(opens_late):
    at = first()
    assert at.caption[0].value.startswith("The model is being opened") and not at.button(key="follow_head").disabled
    assert not chart(at)[1]["guesses"] and "80%" in at.markdown[0].value
    begin_opening()
    assert not chart(at.run())[1]["guesses"], "another run does not wait either"
    opens_late.set()
    (thread,) = real_models.OPENING.values()
    thread.join()
    assert chart(at.run())[1]["guesses"] and "80%" in at.markdown[0].value


def test_who_asks_for_another_head_or_sentence_meanwhile_waits_for_the_model(opens_late):
    threading.Timer(0.5, opens_late.set).start()
    at = first(look_head="18.6", look_text="A red fox ran home. A red")
    assert at.selectbox(key="look_head").value == "18.6" and "“fox”" in at.markdown[0].value
    assert "red" in asked(at, "title") and chart(at)[1]["guesses"]


def test_links_from_before_models_came_are_known_by_the_names_of_their_choices():
    named = {choice.name for choice in vars(example).values() if hasattr(choice, "name") and hasattr(choice, "label")}
    assert named >= set(pictures.BEFORE_MODELS_CAME) - {"edits"} and QUERY.name in pictures.SMALL_ONES
    assert STEP.name == "step" and example.SOURCE.name == "example"
