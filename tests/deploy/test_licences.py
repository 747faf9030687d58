"""The list of licences names every package that runs, and each says what it is under."""

import hashlib
import json

import licences

EDITOR = licences.DEPLOY.parent / "in_browser" / "editor"


def test_every_package_is_listed_with_a_licence():
    rows = [line.split(" | ") for line in licences.LICENCES.read_text("utf-8").split("## Packages")[1].splitlines()]
    listed = {row[0].removeprefix("| "): row[1].removesuffix(" |") for row in rows if len(row) == 2}
    del listed["package"]
    assert sorted(listed) == licences.packages(), "run deploy/licences.py"
    assert "nothing" not in listed.values()
    assert listed["streamlit"] == "Apache-2.0" and listed["psycopg"] == "LGPL-3.0-only"


def test_the_editor_is_the_one_that_was_built_of_the_packages_that_it_names_with_their_licence():
    bundle = (EDITOR / "bundle.js").read_bytes()
    assert (EDITOR / "bundle.js.sha256").read_text("utf-8").split()[0] == hashlib.sha256(bundle).hexdigest()
    packages = json.loads((EDITOR / "package.json").read_text("utf-8"))["dependencies"]
    beginning = bundle[:2000].decode()
    assert all(f"{name} {version}" in beginning for name, version in packages.items())
    assert "MIT License" in beginning and "CodeMirror" in licences.HEADER
