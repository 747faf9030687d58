"""Make the pictures of the README from the running app: `python docs/screenshots.py http://localhost:8501`."""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
MOMENT, END = 450, 2500  # milliseconds that a picture of the film stands, and its last one


def main(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{url}/?picture=sentence")
        page.locator(".st-key-ribbons .ribbon").first.wait_for(state="attached")
        page.wait_for_timeout(1000)
        save_film(page, HERE / "learning.gif")
        page.goto(f"{url}/?picture=steps")
        page.locator(".st-key-pipeline [data-key=scaled] td").nth(20).hover()
        page.wait_for_timeout(1000)
        page.screenshot(path=HERE / "overview.png")
        page.goto(f"{url}/train")
        page.get_by_role("button", name="Start", exact=True).click()
        slider = page.locator(".st-key-run input[type=range]")
        slider.wait_for()
        page.locator(".st-key-run input[type=checkbox]").uncheck()
        slider.fill("9")  # while it still learns
        page.locator("h1").scroll_into_view_if_needed()
        page.wait_for_timeout(1000)
        page.screenshot(path=HERE / "train.png")
        browser.close()


def save_film(page: Page, file: Path) -> None:
    """The first screen over its training, moment by moment."""
    slider = page.locator(".st-key-ribbons input[type=range]")
    pictures = []
    for moment in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(moment))
        page.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(page.locator(".st-key-ribbons").screenshot()))
        pictures.append(picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64))
    first, *others = pictures
    durations = [MOMENT] * len(others) + [END]
    first.save(file, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
