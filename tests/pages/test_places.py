"""In every figure each layer draws at most one thing at a place, and of a cell: by its key it is found again."""

import re
from collections import Counter

import pytest
from visiting import charts, open_page

from attention_ui.contents import CONTENTS
from attention_ui.link_rules import LINK_RULES

VIEWS = {
    "home": "step",
    "dot_product": "view",
    "projections": "role",
    "mask": "masking",
    "output": "of",
    "heads": "mh_step",
    "positions": "order_view",
    "backward": "back_view",
    "pytorch": "parity",
    "cost": "cost_view",
    "variants": "variant",
}
SCREENS = [
    (entry.file.removesuffix(".py"), name, view)
    for entry in CONTENTS
    for name in [VIEWS.get(entry.address, "large")]
    for view in (LINK_RULES[name].options if name != "large" else ["true"])
]


def layers_of_cells(spec):
    """The layers of a figure whose marks are found again: the table, the key, and the kinds of things drawn."""
    for layer in spec.get("layer", []):
        if "key" in layer["encoding"]:
            key = layer["encoding"]["key"]["field"]
            assert key in ("place", "cell_tag")
            filters = " ".join(str(transform.get("filter")) for transform in layer["transform"])
            yield layer["data"]["name"], key, set(re.findall(r"datum\.kind === '(\w+)'", filters))


@pytest.mark.part(2)
@pytest.mark.parametrize(("page", "name", "view"), SCREENS)
def test_a_layer_draws_at_most_one_thing_at_a_place(page, name, view):
    at = open_page(page, **{name: view, "edits": "q1,2=0.5"})
    for spec, tables, _ in charts(at):
        for table, key, kinds in layers_of_cells(spec):
            assert kinds
            drawn = [row for row in tables[table] if row["kind"] in kinds]
            for found_by in {"place", key}:
                counted = Counter((row.get("frame", row.get("moment")), row[found_by]) for row in drawn)
                assert not [place for place, count in counted.items() if count > 1], found_by
