"""What `python3 lab.py test` does about a browser, a proxy and a database that are not there."""

import subprocess

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
