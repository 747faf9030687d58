"""Pages that show matrices and no chart load nothing that draws charts; what draws matrices is asked for at once."""

from attention_ui.server.files import OF_CHARTS, WITHOUT_CHARTS
from tests.figures import CELL

NAMES = tuple(name.partition("*")[0] for name in OF_CHARTS)


def test_what_draws_charts_is_loaded_where_there_is_one(visit):
    for address in ("softmax", *WITHOUT_CHARTS):
        tab, asked = visit(), []
        tab.page.on("request", lambda request, asked=asked: asked.append(request.url.rpartition("/")[2]))
        tab.open(f"{address}?example=journey" if address != "exercises" else address)
        tab.page.wait_for_selector("h1")
        if address not in ("exercises", "softmax"):
            tab.page.wait_for_selector(CELL)
        tab.settled()
        assert any(name.startswith(NAMES) for name in asked) == (address == "softmax"), address
        scripts = ("figure.js", "matrices.js", "model.js", "layout.js")
        assert [asked.count(name) for name in scripts] == [1, 1, 1, 1], address
