"""How long a learner waits for a verdict: from the press on Run to the sentence on the screen, for every exercise;
and for a key in the editor, on a phone.

`python benchmarks/verdicts.py` prints a table. Each exercise is answered wrongly and rightly by turns, so that every
verdict differs from the one before it; the right ones are counted. `--slower 4` slows the browser down, as a phone is.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import SIZE, chromium  # noqa: E402
from playwright.sync_api import Browser, Error, Frame, Page  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

from lessons.code.exercises.every import EXERCISES  # noqa: E402

ROUNDS = 5
LOOP, LOOP_SECONDS = "while True:\n    pass\n", 5.0
MEDIAN_SECONDS, TIMES_MULTI_HEAD = 1.0, 3.0
KEY_MS, PHONE, SLOWER = 60.0, {"width": 390, "height": 844}, 4.0
TYPED = "    return torch.softmax(scores, dim=-1)  # as ever"
LARGE, BESIDE = "real_head", "multi_head"
VERDICT = ".st-key-exercise_right, .st-key-exercise_wrong"
SEEN = """
([verdict, right]) => new Promise((resolve) => {
  const said = () => [...document.querySelectorAll(verdict)].map((box) => box.innerText).join(" ");
  const look = () => said() && said().startsWith("Right") === right
    ? requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()))
    : requestAnimationFrame(look);
  look();
})
"""
PRESS = """() => {
  const button = document.querySelector("#run"), at = performance.timeOrigin + performance.now();
  button.click();
  return at;
}"""
IN_WORKER = "() => performance.getEntriesByName('run').at(-1).duration"

# From each key to the first moment at which the frame after it is painted.
LISTEN = """() => {
  window.keys = [];
  addEventListener("keydown", () => {
    const at = performance.now(), painted = new MessageChannel();
    painted.port1.onmessage = () => window.keys.push(performance.now() - at);
    requestAnimationFrame(() => painted.port2.postMessage(0));
  }, true);
}"""


@dataclass
class Waits:
    """Seconds until verdicts on right answers were seen, and what of them the learner's code ran."""

    seen: list[float] = field(default_factory=list)
    ran: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Until one is seen."""
        return statistics.median(self.seen)


def main() -> None:
    """Measure every exercise, and a loop without an end; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--slower", type=float, default=1.0, help="so many times")
    parser.add_argument("--only", nargs="*", choices=EXERCISES, default=list(EXERCISES), help="these exercises")
    options = options_of(parser, rounds=1, only=[LARGE, BESIDE])
    with Server(OURS) as server, chromium() as browser:
        waits = {}
        for key in options.only:
            say(key)
            waits[key] = answer(browser, server.url, key, options.rounds, options.slower)
        say("a loop without an end")
        loop = stopped(browser, server.url, options.slower)
        say("keys on a phone")
        keys = type_on_a_phone(browser, server.url)
    print("| exercise | verdict seen, s | of it the code ran, s |\n|---|--:|--:|")
    for key, each in waits.items():
        print(f"| {key} | {each.median:.2f} | {statistics.median(each.ran):.2f} |")
    median = statistics.median([wait for each in waits.values() for wait in each.seen])
    print(f"\nmedian of all: {median:.2f} s, {judged(median <= MEDIAN_SECONDS, f'≤ {MEDIAN_SECONDS:g}')}")
    if {LARGE, BESIDE} <= waits.keys():
        times = waits[LARGE].median / waits[BESIDE].median
        print(f"{LARGE} ÷ {BESIDE}: {times:.1f}, {judged(times <= TIMES_MULTI_HEAD, f'≤ {TIMES_MULTI_HEAD:g}')}")
    print(f"endless loop stopped: {loop:.2f} s, {judged(loop <= LOOP_SECONDS, f'≤ {LOOP_SECONDS:g}')}")
    key = statistics.median(keys)
    print(f"a key, phone, {SLOWER:g} times slower: {key:.0f} ms, {judged(key <= KEY_MS, f'≤ {KEY_MS:g}')}")


def answer(browser: Browser, url: str, key: str, rounds: int, slower: float) -> Waits:
    """Wrong and right answers to one exercise by turns."""
    page, frame = open_exercise(browser, url, key, slower)
    exercise, waits = EXERCISES[key], Waits()
    for _ in range(rounds):
        run(page, frame, exercise.starter, right=False)
        waits.seen.append(run(page, frame, exercise.solution, right=True))
        waits.ran.append(frame.evaluate(IN_WORKER) / 1000)
    page.context.close()
    return waits


def stopped(browser: Browser, url: str, slower: float) -> float:
    """Seconds until the page says that a loop was stopped."""
    page, frame = open_exercise(browser, url, "scores", slower)
    seconds = run(page, frame, LOOP, right=False)
    page.context.close()
    return seconds


def type_on_a_phone(browser: Browser, url: str) -> list[float]:
    """Milliseconds from each key until the editor has painted it, at the end of the longest solution."""
    page = browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True).new_page()
    page.goto(f"{url}/exercises?exercise={BESIDE}")
    page.frame_locator('iframe[title$="runner"]').locator("#run:enabled").wait_for()
    frame = page.frame(url=lambda url: "/runner?" in url)
    frame.locator("#code").fill(EXERCISES[BESIDE].solution)
    page.keyboard.press("Control+End")
    slow_down(page, frame, SLOWER)
    frame.evaluate(LISTEN)
    for letter in TYPED:
        page.keyboard.press("Space" if letter == " " else letter)
        page.wait_for_timeout(KEY_MS)
    keys = frame.evaluate("window.keys")
    page.context.close()
    return keys


def slow_down(page: Page, frame: Frame, times: float) -> None:
    """As slow as that many times less of a processor; the frame may have a process of its own."""
    for of in (page, frame):
        try:
            page.context.new_cdp_session(of).send("Emulation.setCPUThrottlingRate", {"rate": times})
        except Error:  # the frame is in the page's process
            continue


def open_exercise(browser: Browser, url: str, key: str, slower: float) -> tuple[Page, Frame]:
    """The page of an exercise, and in it the frame that runs code, both ready."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.goto(f"{url}/exercises?exercise={key}")
    page.frame_locator('iframe[title$="runner"]').locator("#run:enabled").wait_for()
    frame = page.frame(url=lambda url: "/runner?" in url)
    if slower != 1:
        slow_down(page, frame, slower)
    return page, frame


def run(page: Page, frame: Frame, code: str, *, right: bool) -> float:
    """Seconds from the press until the page says that the code is right, or that it is not."""
    frame.locator("#run:enabled").wait_for()
    frame.locator("#code").fill(code)
    pressed = frame.evaluate(PRESS)
    return (page.evaluate(SEEN, [VERDICT, right]) - pressed) / 1000


if __name__ == "__main__":
    main()
