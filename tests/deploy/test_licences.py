"""The list of licences names every package that runs, and each says what it is under."""

import licences


def test_every_package_is_listed_with_a_licence():
    rows = [line.split(" | ") for line in licences.LICENCES.read_text("utf-8").split("## Packages")[1].splitlines()]
    listed = {row[0].removeprefix("| "): row[1].removesuffix(" |") for row in rows if len(row) == 2}
    del listed["package"]
    assert sorted(listed) == licences.packages(), "run deploy/licences.py"
    assert "nothing" not in listed.values()
    assert listed["streamlit"] == "Apache-2.0" and listed["psycopg"] == "LGPL-3.0-only"
