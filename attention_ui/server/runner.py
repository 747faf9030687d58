"""The page that runs a learner's Python in the browser: one file, with nothing to load and nowhere to send to.

Brython comes from its installed package, and of its library only `math`; what else answers use is in `library`. The
page has an origin of its own and may ask nobody for anything, so that a learner's code reaches neither the app nor
another host. What it finds out it hands to the page around it, where it is a stranger's text.
"""

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Collection
from functools import cache
from importlib.resources.abc import Traversable
from pkgutil import iter_modules
from types import ModuleType

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from attention_ui.server.brython import interpreter, package_file
from attention_ui.server.files import GZIP_LEVEL, accepts_gzip, cache_control, version_of
from attention_ui.server.headers import EMBEDDERS, frame_ancestors
from attention_ui.streamlit_insides import IN_BROWSER, front_end_folder

OF_PYTHON = ("math", "__future__")
LETTERS_FILE = "SourceSansVF-Upright.*.woff2"
MOST_CODE = 20_000  # characters


def text_of(path: Traversable) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


def python_library() -> dict[str, list]:
    """The modules that can be imported there, in the form of Brython's virtual file system."""
    whole = text_of(package_file("brython_stdlib.js"))
    scripts, _ = json.JSONDecoder().raw_decode(whole, whole.index("{", whole.index("var scripts")))
    library = {name: scripts[name] for name in OF_PYTHON}
    for folder in (IN_BROWSER, IN_BROWSER / "library"):
        for file in (
            path for path in sorted(folder.rglob("*.py")) if folder != IN_BROWSER or "library" not in path.parts
        ):
            name, is_package = ".".join(file.relative_to(folder).with_suffix("").parts), file.stem == "__init__"
            library[name.removesuffix(".__init__")] = [".py", text_of(file), [], *([1] if is_package else [])]
    library["single"] = [".js", text_of(IN_BROWSER / "library" / "single.js")]
    library["names"] = [".py", names_of_torch(), []]
    return library


def names_of_torch() -> str:
    """A module with the names that torch itself has: what our stand-in lacks of them is told from what is misspelt."""
    import torch  # which the first screen does without

    public = {"TORCH": torch, "METHODS": torch.Tensor, "MODULES": torch.nn, "FUNCTIONAL": torch.nn.functional}
    return "".join(f"{word} = {' '.join(public_names(owner))!r}\n" for word, owner in public.items())


def public_names(owner: ModuleType | type) -> list[str]:
    """What it has, and its submodules whether or not they have been imported by now: always the same names."""
    submodules = {module.name for module in iter_modules(getattr(owner, "__path__", []))}
    others = {name for name in dir(owner) if not isinstance(getattr(owner, name), ModuleType)}
    return sorted(name for name in submodules | others if name[0] != "_")


def worker_script() -> str:
    """Python, and what listens for a learner's code."""
    return "\n".join([text_of(IN_BROWSER / "before.js"), interpreter(), text_of(IN_BROWSER / "worker.js")])


def hash_of(source: str) -> str:
    """A source as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def page_style() -> str:
    """How the page looks, with the app's own letters in it: it may not ask anybody for them."""
    font = next((front_end_folder() / "static" / "media").glob(LETTERS_FILE)).read_bytes()
    return text_of(IN_BROWSER / "page.css").replace("%FONT%", base64.b64encode(font).decode(), 1)


def runner_policy(scripts: Collection[str], style: str, embedders: str) -> str:
    """What a browser is told to refuse to this page: everything but its own scripts and style, and its worker."""
    return "; ".join(
        [
            "sandbox allow-scripts",  # an origin of its own: no cookies, no storage, no way into the app
            "default-src 'none'",  # no request of any kind
            f"script-src {' '.join(map(hash_of, scripts))} 'unsafe-eval'",  # Brython makes JavaScript from Python
            f"style-src {hash_of(style)}",
            "font-src data:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors 'self' {embedders}".rstrip(),  # the app's page, and whoever shows that in a frame
        ]
    )


@cache
def runner_page() -> tuple[str, str]:
    """The page that runs a learner's code, and its security policy."""
    editor, script, style = text_of(IN_BROWSER / "editor" / "bundle.js"), text_of(IN_BROWSER / "page.js"), page_style()
    parts = json.dumps({"worker": worker_script(), "library": python_library(), "most": MOST_CODE})
    html = text_of(IN_BROWSER / "page.html")
    # No tag inside the parts may end them early.
    for mark, part in (
        ("STYLE", style),
        ("EDITOR", editor),
        ("SCRIPT", script),
        ("PARTS", parts.replace("<", "\\u003c")),
    ):
        html = html.replace(f"%{mark}%", part, 1)
    wanted = frame_ancestors(os.environ.get(EMBEDDERS, ""))
    return html, runner_policy((editor, script), style, "" if wanted in ("'self'", "'none'") else wanted)


@cache
def packed_runner() -> bytes:
    """The page for browsers that can unpack it."""
    return gzip.compress(runner_page()[0].encode(), GZIP_LEVEL, mtime=0)


@cache
def runner_version() -> str:
    """The version of the runner's page, which changes whenever the page does: a browser may keep it as long."""
    return version_of("".join(runner_page()))


def answer_runner(request: Request) -> Response:
    """The page. Without `async`, so that it is made apart from the loop that answers everybody."""
    html, policy = runner_page()
    headers = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "SAMEORIGIN",  # the app's own page shows it, also where nobody may show that
        "Cache-Control": cache_control(request.url.query, runner_version()),
        "Vary": "Accept-Encoding",
    }
    if accepts_gzip(Headers(scope=request.scope)):
        return Response(packed_runner(), media_type="text/html", headers=headers | {"Content-Encoding": "gzip"})
    return Response(html, media_type="text/html", headers=headers)
