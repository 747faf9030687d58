"""A number of a head is moved: how long until its sentence, scores and table stand anew, beside an ordinary rerun?

`python benchmarks/build.py` prints it. The ordinary rerun of the page goes on to the next sentence, and draws as much.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import PICTURE, WARM_UP, Pressed, chromium, measure_pages, open_page  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402

PRESSES, TIMES = 20, 1.5
BEGUN = "build?built=q1,1=1;q2,1=1;k1,1=1"
FIGURE = f".st-key-build_figure {PICTURE}"
NUMBER, SENTENCE = ".st-key-set_first_W_q_1_0 input", ".st-key-on input"


def main() -> None:
    """Both by turns, so that whatever the machine does besides is done to both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=PRESSES)
    options = options_of(parser, presses=1)
    with Server(OURS) as server, chromium() as browser:
        pages = {
            name: Pressed(open_page(browser, f"{server.url}/{BEGUN}", FIGURE), FIGURE, control)
            for name, control in (("number", NUMBER), ("sentence", SENTENCE))
        }
        found = measure_pages(pages, ["ArrowDown" if n % 2 else "ArrowUp" for n in range(WARM_UP + options.presses)])
    number, sentence = (found.percentile(name, 50) for name in ("number", "sentence"))
    print(f"a number moved → redrawn, p50: {number:.0f} ms; an ordinary rerun: {sentence:.0f} ms")
    print(f"ratio: {number / sentence:.2f}, {judged(number <= TIMES * sentence, f'≤ {TIMES:g}')}")
    print(f"presses after which the picture changed more than once: {found.changed_again}")


if __name__ == "__main__":
    main()
