"""Which index pip and uv are set to: their variables and their files."""

import os
from pathlib import Path

import pytest

from models.settings import MOST_SECONDS, PUBLIC_INDEX, SECONDS, index_settings


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine of its own: no file of pip's or uv's counts but those that a test writes."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("models.settings.sys.prefix", str(tmp_path / "venv"))
    monkeypatch.setattr("models.settings.MACHINE", tmp_path / "etc")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(home, **environment):
    return index_settings(
        {"XDG_CONFIG_DIRS": str(home / "xdg"), "XDG_CONFIG_HOME": str(home / "config"), **environment}
    )


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_where_nothing_is_set_the_public_index_is_asked(home):
    settings = read(home)
    assert (settings.indexes, settings.pages, settings.seconds) == ((PUBLIC_INDEX,), (), SECONDS)


def test_an_index_that_is_named_is_the_only_one(home):
    assert read(home, PIP_INDEX_URL="https://in.house/simple").indexes == ("https://in.house/simple",)
    assert read(home, UV_DEFAULT_INDEX="ours=https://in.house/simple").indexes == ("https://in.house/simple",)
    assert read(home, UV_INDEX_URL="https://in.house/simple").indexes == ("https://in.house/simple",)


def test_further_indexes_come_after_the_first(home):
    settings = read(home, PIP_EXTRA_INDEX_URL="https://a/simple\nhttps://b/simple", UV_INDEX="c=https://c/simple")
    assert settings.indexes == (PUBLIC_INDEX, "https://a/simple", "https://b/simple", "https://c/simple")


def test_folders_of_packages_come_with_the_index_or_without_any(home):
    settings = read(home, PIP_FIND_LINKS="/wheels https://page/", UV_FIND_LINKS="/more,/wheels")
    assert settings.pages == ("/wheels", "https://page/", "/more") and settings.indexes == (PUBLIC_INDEX,)
    assert read(home, PIP_NO_INDEX="1", PIP_FIND_LINKS="/wheels").indexes == ()
    offline = read(home, UV_OFFLINE="1", PIP_FIND_LINKS="/wheels https://page/")
    assert offline.indexes == () and offline.pages == ("/wheels",)


@pytest.mark.skipif(os.name == "nt", reason="the files have other places there")
def test_files_of_pip_count_in_its_order(home):
    write(home / "xdg/pip/pip.conf", "[global]\nindex-url = https://machine/\nproxy = http://proxy:1\ntimeout = 20\n")
    write(home / "config/pip/pip.conf", "[global]\nindex_url = https://user/\n[download]\nindex-url = https://no/\n")
    settings = read(home)
    assert settings.indexes == ("https://user/",) and settings.proxy == "http://proxy:1" and settings.seconds == 20
    write(home / "venv/pip.conf", "[install]\nindex-url = https://here/\n[global]\nindex-url = https://no/\n")
    assert read(home).indexes == ("https://here/",)
    write(home / "named", "[global]\nindex-url = https://named/\nfind-links =\n    /one\n    /two\n")
    settings = read(home, PIP_CONFIG_FILE=str(home / "named"))
    assert settings.indexes == ("https://named/",) and settings.pages == ("/one", "/two")
    assert read(home, PIP_CONFIG_FILE=str(home / "named"), PIP_INDEX_URL="https://v/").indexes == ("https://v/",)
    assert read(home, PIP_CONFIG_FILE=os.devnull).indexes == (PUBLIC_INDEX,)


@pytest.mark.skipif(os.name == "nt", reason="the files have other places there")
def test_files_of_uv_are_read_too(home):
    write(home / "config/uv/uv.toml", 'index-url = "https://user/"\nfind-links = ["/wheels"]\n')
    assert read(home).indexes == ("https://user/",) and read(home).pages == ("/wheels",)
    here = '[[index]]\nname = "a"\nurl = "https://a/"\n[[index]]\nurl = "https://d/"\ndefault = true\n'
    write(home / "uv.toml", here + '[[index]]\nurl = "https://explicit/"\nexplicit = true\n')
    assert read(home).indexes == ("https://d/", "https://a/")
    assert read(home, UV_NO_CONFIG="1").indexes == (PUBLIC_INDEX,)
    write(home / "pip-only.toml", '[pip]\nindex-url = "https://pip/"\nno-index = true\n')
    assert read(home, UV_CONFIG_FILE=str(home / "pip-only.toml")).indexes == ()


def test_what_cannot_be_read_counts_for_nothing(home):
    write(home / "config/pip/pip.conf", "no section\n")
    write(home / "config/uv/uv.toml", "[[index")
    assert read(home).indexes == (PUBLIC_INDEX,)


def test_certificates_and_hosts_that_pip_trusts(home):
    settings = read(
        home, PIP_CERT="/ca.pem", PIP_TRUSTED_HOST="a b:8080", UV_INSECURE_HOST="c", PIP_CLIENT_CERT="/me.pem"
    )
    assert settings.certificates == "/ca.pem" and settings.client_certificate == "/me.pem"
    assert settings.trusted_hosts == ("a", "b:8080", "c")
    assert read(home, REQUESTS_CA_BUNDLE="/bundle.pem").certificates == "/bundle.pem"


@pytest.mark.parametrize(("text", "seconds"), [("3", 3), ("180", MOST_SECONDS), ("soon", SECONDS), ("-1", SECONDS)])
def test_nobody_waits_for_ever(home, text, seconds):
    assert read(home, PIP_DEFAULT_TIMEOUT=text).seconds == read(home, PIP_TIMEOUT=text).seconds == seconds
