"""Every page in every look on a few large pictures: `python docs/contact_sheet.py http://localhost:8501 [page …]`.

With `--lang de` in another language, on a laptop and on a phone.

One picture a look, in `screenshots/` (which git ignores): before and after an answer, wide and narrow, light and dark,
on a projector, with the longest and the shortest sentence. Made to be looked at.
"""

import argparse
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from attention_ui.contents import CONTENTS  # noqa: E402
from lessons.example.source import MAX_TOKENS  # noqa: E402

OUT = ROOT / "screenshots"
READY = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stSkeleton]') && document.querySelector('h1')"""
CARD = "[class*=st-key-cards_] button"
STANDS = 2500  # milliseconds, until every film has come to its end
IN_A_ROW, TILE, NAME = 5, 480, 22  # pictures, and pixels
LONGEST = "example=sentence&text=" + "%20".join(f"word{number}" for number in range(MAX_TOKENS))


@dataclass(frozen=True)
class Look:
    """How the pages are looked at."""

    name: str
    width: int = 1440
    height: int = 900
    theme: str = "light"
    query: str = ""
    answered: bool = False


LOOKS = (
    Look("asked light"),
    Look("answered light", answered=True),
    Look("answered dark", theme="dark", answered=True),
    Look("tablet", 1024, 768, answered=True),
    Look("phone light", 390, 844),
    Look("phone dark answered", 390, 844, "dark", answered=True),
    Look("projector asked", 1280, 720, query="large=true"),
    Look("projector answered", 1280, 720, "dark", "large=true", answered=True),
    Look("longest sentence", query=LONGEST, answered=True),
    Look("shortest sentence", query="example=sentence&text=a", answered=True),
)


def looks_in(lang: str) -> tuple[Look, ...]:
    """How the pages of another language are looked at."""
    wide, _, dark, _, phone, *_ = LOOKS
    return tuple(replace(look, name=f"{look.name} {lang}", query=f"lang={lang}") for look in (wide, dark, phone))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--lang", help="a language, such as pt-BR")
    asked = parser.parse_args()
    url, pages, looks = asked.url, asked.pages, looks_in(asked.lang) if asked.lang else LOOKS
    OUT.mkdir(exist_ok=True)
    entries = [entry for entry in CONTENTS if not pages or entry.address in pages]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for look in looks:
            pictures = []
            for entry in entries:
                address = "" if entry is CONTENTS[0] else entry.address
                pictures.append((entry.name, picture(browser, f"{url}/{address}?{look.query}", look)))
            file = OUT / f"{look.name.replace(' ', '_')}.png"
            sheet(pictures, look).save(file)
            print(file)
        browser.close()


def picture(browser: Browser, address: str, look: Look) -> Image.Image:
    """One page as it stands on the screen, without scrolling."""
    context = browser.new_context(viewport={"width": look.width, "height": look.height}, color_scheme=look.theme)
    page = context.new_page()
    page.goto(address)
    settle(page)
    if look.answered and page.locator(CARD).count():
        page.locator(CARD).first.click()
        settle(page)
    file = OUT / "one.png"
    page.screenshot(path=file)
    context.close()
    with Image.open(file) as shot:
        taken = shot.convert("RGB")
    file.unlink()
    return taken


def settle(page: Page) -> None:
    """Wait until the page stands still; what never does is shown as it is."""
    try:
        page.wait_for_function(READY, timeout=20_000)
    except TooLate:
        print(f"never ready: {page.url}")
    page.wait_for_timeout(STANDS)


def sheet(pictures: list[tuple[str, Image.Image]], look: Look) -> Image.Image:
    """Pictures side by side, each below its name."""
    tile = TILE if look.width > look.height else TILE // 2
    in_a_row = IN_A_ROW if look.width > look.height else 2 * IN_A_ROW
    high = tile * look.height // look.width + NAME
    rows = -(-len(pictures) // in_a_row)
    whole = Image.new("RGB", (in_a_row * tile, rows * high), "white")
    draw = ImageDraw.Draw(whole)
    for at, (name, one) in enumerate(pictures):
        x, y = at % in_a_row * tile, at // in_a_row * high
        draw.text((x + 6, y + 5), name, fill="black")
        whole.paste(one.resize((tile - 4, high - NAME - 4)), (x + 2, y + NAME))
    return whole


if __name__ == "__main__":
    main()
