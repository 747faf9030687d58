"""Which index of packages this machine is set to, as pip and uv read it: their variables and their files.

A school or a company that keeps packages in a place of its own has told pip or uv so already. Where somebody has
named an index, no other one is asked.
"""

import configparser
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PUBLIC_INDEX = "https://pypi.org/simple"
SECONDS, MOST_SECONDS = 15.0, 30.0  # pip's own limit for one answer; longer than this nobody waits for a sign of life
MACHINE = Path("/etc")
TRUE = ("1", "true", "yes", "on", "t", "y")


@dataclass(frozen=True)
class IndexSettings:
    """Where to look for a package, in this order, and how to connect.

    `pages` are folders, files or pages that list files (pip's find-links), `indexes` the roots of indexes.
    """

    pages: tuple[str, ...] = ()
    indexes: tuple[str, ...] = (PUBLIC_INDEX,)
    proxy: str | None = None
    certificates: str | None = None
    client_certificate: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    seconds: float = SECONDS


def index_settings(environment: Mapping[str, str] = os.environ) -> IndexSettings:
    """What the variables and files of pip and uv say, both together; pip's index comes first."""
    pip, uv = pip_settings(environment), uv_settings(environment)
    indexes = [*words_of(pip.get("index-url")), *words_of(pip.get("extra-index-url")), *uv["indexes"]]
    if not (pip.get("index-url") or uv["named_default"]):
        indexes = [PUBLIC_INDEX, *indexes]
    if is_true(pip.get("no-index")) or uv["no_index"] or uv["offline"]:
        indexes = []
    pages = [*words_of(pip.get("find-links")), *uv["pages"]]
    return IndexSettings(
        pages=unique([page for page in pages if not (uv["offline"] and page.startswith("http"))]),
        indexes=unique(indexes),
        proxy=pip.get("proxy") or None,
        certificates=pip.get("cert") or environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE"),
        client_certificate=pip.get("client-cert") or None,
        trusted_hosts=unique([*words_of(pip.get("trusted-host")), *uv["trusted_hosts"]]),
        seconds=seconds_of(pip.get("timeout") or pip.get("default-timeout")),
    )


def pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """pip's options by their long names: files first, each before the next, then the variables PIP_…"""
    options: dict[str, str] = {}
    for file in pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                options |= {name.replace("_", "-"): value for name, value in parser.items(section) if value}
    for name, value in environment.items():
        if name.startswith("PIP_") and value:
            options[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return options


def pip_files(environment: Mapping[str, str]) -> list[Path]:
    """pip's files, what counts least first: of the machine, of the user, of the environment, the one that is named."""
    named = environment.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home, name = Path.home(), "pip.ini" if os.name == "nt" else "pip.conf"
    if os.name == "nt":
        machine = [Path(environment.get("PROGRAMDATA", r"C:\ProgramData"), "pip")]
        user = [home / "pip", Path(environment.get("APPDATA") or home / "AppData/Roaming", "pip")]
    else:
        machine = [folder / "pip" for folder in config_folders(environment)] + [MACHINE]
        user = [home / ".pip", Path(environment.get("XDG_CONFIG_HOME") or home / ".config", "pip")]
    if sys.platform == "darwin":
        machine = [Path("/Library/Application Support/pip")]
        user.append(home / "Library/Application Support/pip")
    files = [folder / name for folder in (*machine, *user, Path(sys.prefix))]
    return files + ([Path(named)] if named else [])


def config_folders(environment: Mapping[str, str]) -> list[Path]:
    """The machine's folders of settings, what counts least first."""
    folders = environment.get("XDG_CONFIG_DIRS") or str(MACHINE / "xdg")
    return [Path(folder) for folder in reversed(folders.split(os.pathsep)) if folder]


def uv_settings(environment: Mapping[str, str]) -> dict:
    """uv's indexes and pages, whether its default index was named, and whether it may ask an index, or anybody."""
    options = uv_options(environment)
    tables = [table for table in options.get("index", ()) if not table.get("explicit")]
    default = (
        environment.get("UV_DEFAULT_INDEX")
        or environment.get("UV_INDEX_URL")
        or next((table["url"] for table in tables if table.get("default")), None)
        or options.get("index-url")
    )
    others = [
        *words_of(environment.get("UV_INDEX")),
        *words_of(environment.get("UV_EXTRA_INDEX_URL")),
        *(table["url"] for table in tables if not table.get("default") and "url" in table),
        *listed(options.get("extra-index-url")),
    ]
    pages = re.split(r"[,\s]+", environment.get("UV_FIND_LINKS", "")) + listed(options.get("find-links"))
    return {
        "indexes": [without_name(url) for url in ([default] if default else []) + others],
        "named_default": bool(default),
        "pages": [page for page in pages if page],
        "trusted_hosts": words_of(environment.get("UV_INSECURE_HOST")) + listed(options.get("allow-insecure-host")),
        "no_index": is_true(environment.get("UV_NO_INDEX")) or bool(options.get("no-index")),
        "offline": is_true(environment.get("UV_OFFLINE")) or bool(options.get("offline")),
    }


def uv_options(environment: Mapping[str, str]) -> dict:
    """What uv's files say, those that count more over the others; of `[pip]`, what `uv pip` reads, as well."""
    if is_true(environment.get("UV_NO_CONFIG")):
        return {}
    options: dict = {}
    for file in uv_files(environment):
        try:
            read = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        options |= read | read.get("pip", {})
    return options


def uv_files(environment: Mapping[str, str]) -> list[Path]:
    """uv's files, what counts least first: of the machine, of the user, of the folder where the app runs."""
    if named := environment.get("UV_CONFIG_FILE"):
        return [Path(named)]
    home, here = Path.home(), Path.cwd()
    if os.name == "nt":
        folders = [Path(environment.get("PROGRAMDATA", r"C:\ProgramData"), "uv")]
        folders.append(Path(environment.get("APPDATA") or home / "AppData/Roaming", "uv"))
    else:
        folders = [MACHINE / "uv", *(folder / "uv" for folder in config_folders(environment))]
        folders.append(Path(environment.get("XDG_CONFIG_HOME") or home / ".config", "uv"))
    nearest = next((folder for folder in (here, *here.parents) if (folder / "uv.toml").exists()), here)
    return [folder / "uv.toml" for folder in (*folders, nearest)]


def words_of(text: str | None) -> list[str]:
    """What a list of pip's holds: it is separated by spaces or lines."""
    return (text or "").split()


def listed(value: str | list[str] | None) -> list[str]:
    """A text or a list of texts, as a list."""
    return [value] if isinstance(value, str) else list(value or ())


def without_name(index: str) -> str:
    """uv lets an index be given a name in front: name=https://…"""
    return re.sub(r"^[\w.-]+=(?=\w+://)", "", index)


def is_true(text: str | None) -> bool:
    """As pip reads a yes."""
    return (text or "").strip().lower() in TRUE


def seconds_of(text: str | None) -> float:
    """A limit in seconds; what is no number of seconds is pip's own limit."""
    try:
        seconds = float(text or SECONDS)
    except ValueError:
        return SECONDS
    return min(seconds, MOST_SECONDS) if seconds > 0 else SECONDS


def unique(texts: list[str]) -> tuple[str, ...]:
    """Each text once, in the order in which they come."""
    return tuple(dict.fromkeys(texts))
