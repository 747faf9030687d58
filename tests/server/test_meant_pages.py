"""A word of the menu leads to its page, in every spelling that comes to mind."""

import pytest
from replicas import awaited

from attention_ui.contents import CONTENTS
from attention_ui.server.meant_pages import MeantPages, bare, meant_address
from words import LANGUAGES, speaking


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_name_of_the_menu_leads_to_its_page(code):
    with speaking(code):
        names = {entry.address: entry.name for entry in CONTENTS}
    for address, name in names.items():
        meant = "./" if address == "home" else f"./{address}"
        for word in (
            name,
            name.lower(),
            name.replace(" ", "-"),
            name.replace(" ", "_"),
            address.rstrip("s"),
            f"{bare(address)}s",
        ):
            found = meant_address(word, code)
            assert (f"./{word}" if found is None else found) == meant, (word, found)


def test_an_address_and_a_word_of_nothing_stay_as_they_are():
    assert len({bare(entry.address) for entry in CONTENTS}) == len(CONTENTS)
    for word in (*(entry.address for entry in CONTENTS[1:]), "nonsense", "s", "…", "_stcore", "healthz"):
        assert meant_address(word, "en") is None


@pytest.mark.parametrize(
    ("path", "query", "meant"),
    [
        ("/backwards", "seed=3&text=a%20b", "./backward?seed=3&text=a%20b"),
        ("/lab/Dot-products", "", "./dot_product"),
        ("/overview", "lang=de", "./?lang=de"),
        ("/rückwärts", "lang=de", "./backward?lang=de"),
        ("/softmax", "seed=3", None),
        ("/", "", None),
        ("/healthz", "", None),
    ],
)
def test_a_page_is_sent_there_with_all_that_the_link_says(path, query, meant):
    assert answered(path, query, b"text/html") == meant


def test_what_is_no_page_is_left_alone():
    assert answered("/backwards", "", b"*/*") is None


def answered(path, query, accepts):
    """Where the answer sends the browser; None where the app itself answers."""
    said = []

    async def app(scope, receive, send):
        said.append({"headers": []})

    async def send(message):
        said.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"accept", accepts), (b"host", b"localhost")],
    }
    awaited(MeantPages(app)(scope, None, send))
    location = dict(said[0]["headers"]).get(b"location")
    assert said[0].get("status") == (None if location is None else 307)
    return None if location is None else location.decode()
