"""How the tests start Chromium, and tabs in it."""

import os
import shutil

from playwright.sync_api import Error

from lab import BROWSERS
from tests.figures import DRAWN

WAIT = 60_000  # milliseconds a slow machine may take
SETTLED = f"""() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stSkeleton]') && ({DRAWN})()"""

# The last list of features counts: these are Playwright's own, and two pages of its own that every window would load
# for suggestions under the address bar, which take a quarter of a test's time.
NOT_WANTED = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    f"--disable-features={','.join(NOT_WANTED)}",
]


def find_chromium():
    """The path of a browser: that of CHROMIUM, or the first that is installed; None without any."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


class Tabs:
    """Tabs with a profile of their own. One that was left is lent again, emptied: it has read the scripts of the app,
    and that is half of the work of opening a page.
    """

    def __init__(self, browser):
        self.browser, self.left = browser, {}

    def lend(self, url, viewport=None, color_scheme="light", reduced_motion="no-preference", **others):
        """A tab that knows nothing of any visit, and what to call when it is left."""
        free = self.left.setdefault((url, *sorted(others.items())), [])
        page = free.pop() if free else self.browser.new_context(**others).new_page()
        page.set_default_timeout(WAIT)
        page.set_viewport_size(viewport or {"width": 1440, "height": 900})
        page.emulate_media(media="null", color_scheme=color_scheme, reduced_motion=reduced_motion)

        def leave():
            try:
                self.empty(page, url)
            except Error:  # whatever keeps it from being emptied goes with it
                page.context.close()
            else:
                free.append(page)

        return page, leave

    def empty(self, page, url):
        """Away from the app, without anything that it kept, without other tabs, the pointer where there is nothing."""
        for other in page.context.pages:
            if other != page:
                other.close()
        if page.url.startswith(url):
            page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.unroute_all()
        page.mouse.move(0, 0)
        page.context.clear_cookies()
        devtools = page.context.new_cdp_session(page)
        devtools.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        devtools.detach()
