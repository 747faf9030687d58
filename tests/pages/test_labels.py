"""What a screen reader says of each control: it may leave out what stands for a number in a formula, so words say
what it is. (It reads +, × and ÷ as words.)"""

import re

import pytest
from visiting import open_page

from attention_ui.contents import CONTENTS

KINDS = ("toggle", "slider", "select_slider", "selectbox", "radio", "number_input", "text_input", "segmented_control")
NAMED_BY = {"√": ("root",), r"\bd_": ("features", "size")}


def said_of_controls(at):
    """The label of each control, and the choices that it offers."""
    for control in (control.proto for kind in KINDS for control in at.get(kind)):
        yield control.label
        yield from (getattr(option, "content", option) for option in getattr(control, "options", ()))


@pytest.mark.parametrize("page", [entry.file.removesuffix(".py") for entry in CONTENTS])
@pytest.mark.parametrize("example", ["sentence", "pronouns"])
def test_a_sign_of_a_formula_in_a_label_has_a_word_beside_it(page, example):
    said = {label for label in said_of_controls(open_page(page, example=example)) if label}
    signs = [(sign, label) for label in said for sign in NAMED_BY if re.search(sign, label)]
    assert said and not [label for sign, label in signs if not any(word in label for word in NAMED_BY[sign])]
