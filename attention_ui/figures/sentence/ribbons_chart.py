"""The template of a sentence and its ribbons. One for every width: on a phone the sentence stands upright."""

import json

import altair as alt

from attention_ui.figures.layers import PHONE, alt_layer, role_colour
from attention_ui.figures.playing import playing
from attention_ui.figures.shares.sharing_chart import SERIF, at, down
from attention_ui.figures.template import fitted, template
from lessons.screen import message, render, translate
from words import cached_by_language

WHOLE_RIBBON = 44  # pixels: as wide is a weight of 1, and half as wide is half of it
LARGEST_LETTERS, UPRIGHT_LETTERS = 54, 25  # pixels
LOWEST, RISE = 46, 0.25  # pixels of the lowest ribbons, and by how much of the figure's width the longest are higher
LARGE_RISE = 0.17  # on a projector: what is said below them is seen without scrolling
STEP, UPRIGHT = 46, 196  # pixels where the sentence stands upright: from word to word, and where ribbons leave them
POST = 44  # pixels of what stays with the query itself
FILM_NAMES = {"playing": message("Watch it learn"), "moment": message("training")}
ASKED = "isDefined(ask.query) && ask.standing[0] === datum.standing ? ask.query[0] : datum.standing"
SIZE_OF_LETTERS = f"narrow ? {UPRIGHT_LETTERS} : min({LARGEST_LETTERS}, width / datum.ems)"


@cached_by_language(maxsize=64)
def ribbons_template(words: int, moments: int, large: bool) -> dict:
    """The whole specification, without data, and what moves through its moments where there are several."""
    spec = fitted(template(ribbons_chart, moments > 1, large), words=words)
    if moments == 1:
        return spec | {"params": [*spec["params"], {"name": "moment", "value": 0}]}
    film = [dict(param) for param in playing(moments, ())]
    for param in film:
        bound = param.pop("bind", None)
        if bound and param["name"] in FILM_NAMES:  # the pace is ours
            param["bind"] = bound | {"name": render(FILM_NAMES[param["name"]])}
    return spec | {"params": [*spec["params"], *film]}


def ribbons_chart(moves: bool, large: bool) -> alt.LayerChart:
    """The template, whose parameter `words` is their number. It fills the width of the page, whatever that is."""
    small, last = 18 if large else 15, 168 if moves else 142
    measures = {
        "narrow": f"width < {PHONE}",
        "reach": f"min(width, {3 * LARGEST_LETTERS} * words)",
        "most": f"narrow ? (width - {UPRIGHT} - 30) / 0.75 : {LOWEST} + {LARGE_RISE if large else RISE} * reach",
        "ground": "ceil(0.75 * most) + 26",
        "below": f"{STEP} * words + 12",
        "height": f"narrow ? below + 134 : ground + {last + small + 5}",
    }
    said = [said_below("row_says", ASKED, small, "ground + 122", "below + 52", middle=True)]
    if moves:
        said.append(said_below("moment_says", "-1", small, f"ground + {last}", "below + 4"))
    layers = [threads(), ribbons(), foot(), shares_of_words(small), words_of_sentence(), *said, words_to_point_at()]
    return (
        alt.layer(alt_layer(), *layers)
        .add_params(alt.param(name="words", value=1))
        .add_params(*(alt.param(name=name, expr=measure) for name, measure in measures.items()))
        .properties(height=400, autosize=alt.AutoSizeParams(type="none", contains="padding"), view={"stroke": None})
        .properties(padding={"left": 2, "right": 2, "top": 2, "bottom": 2})
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def masked() -> str:
    """What stands below a key that is masked, as Vega writes a text."""
    return json.dumps(translate("masked"))


def asked_keys(name: str, more: str = "true") -> alt.Chart:
    """All keys of the query that asks, at the moment, and where they stand in pixels."""
    chart = alt.Chart(alt.NamedData(name="ribbon_weights"), name=name).transform_filter(
        f"datum.moment === moment && datum.query === ({ASKED}) && {more}"
    )
    words = alt.NamedData(name="ribbon_words")
    of_key = alt.LookupData(data=words, key="token", fields=["at", "left", "right", "ems", "name", "word"])
    of_query = alt.LookupData(data=words, key="token", fields=["at", "name"])
    chart = chart.transform_lookup(lookup="place", from_=of_key)
    chart = chart.transform_lookup(lookup="query", from_=of_query, **{"as": ["asks_at", "asker"]})
    return chart.transform_calculate(letters=SIZE_OF_LETTERS).transform_calculate(
        key_along=along("datum.place", "datum.at"), query_along=along("datum.query", "datum.asks_at")
    )


def along(place: str, ems: str) -> str:
    """How far along the sentence, in pixels, the word in this place stands, which is at so many ems."""
    start = "(width - datum.letters * datum.ems) / 2"
    return f"narrow ? ({place} + 0.5) * {STEP} : {start} + {ems} * datum.letters"


def ways(name: str, more: str = "true", **look: object) -> alt.Chart:
    """A path from the query to each key that it may look at; what stays with the query is a post.

    A shape of the size 4 is drawn in pixels as it is.
    """
    span = f"(narrow ? {STEP} * length(data('ribbon_words')) : max(reach, datum.letters * datum.ems))"
    chart = asked_keys(name, f"datum.text !== {masked()} && {more}").transform_calculate(
        same="datum.query === datum.place", leave=f"datum.query_along + {WHOLE_RIBBON} * datum.lane"
    )
    chart = chart.transform_calculate(
        arrive="datum.same ? datum.leave : datum.key_along",
        high=f"datum.same ? {POST / 2} : {LOWEST} + (most - {LOWEST}) * abs(datum.key_along - datum.leave) / {span}",
        end=f"datum.same ? {POST} : 0",
    )
    path = " + ".join(
        [
            "'M'",
            point("leave", "0"),
            "'C'",
            point("leave", "datum.high"),
            "' '",
            point("arrive", "datum.high"),
            "' '",
            point("arrive", "datum.end"),
        ]
    )
    chart = chart.transform_calculate(
        path=path,
        wide=f"{WHOLE_RIBBON} * datum.share",
        role="'weight'",
        says="datum.asker + ' → ' + datum.name + ': ' + format(datum.share, '.3f')",
    )
    shape = alt.Shape("path:N", scale=None, legend=None)
    drawn = chart.mark_point(filled=False, size=4, strokeCap="butt", **look)
    return drawn.encode(role_colour("role"), x=alt.value(0), y=alt.value(0), shape=shape, key="place:N")


def point(foot: str, high: str) -> str:
    """A point so high above one end of a path, as it is written in the path."""
    return f"(narrow ? ({UPRIGHT} + {high}) + ',' + datum.{foot} : datum.{foot} + ',' + (ground - {high}))"


def threads() -> alt.Chart:
    """A hair to each other key that it may look at, whatever its weight."""
    return ways("threads", "datum.query !== datum.place", strokeWidth=1, opacity=0.35, aria=False, tooltip=None)


def ribbons() -> alt.Chart:
    """To each key a ribbon as wide as its weight; pointing at it says the weight."""
    wide = alt.StrokeWidth("wide:Q", scale=None, legend=None)
    tip = alt.Tooltip("says:N", title=" ")
    return ways("ribbons", opacity=1).encode(strokeWidth=wide, tooltip=tip, description="says:N")


def foot() -> alt.Chart:
    """A bar where the ribbons leave the query: as long as the whole."""
    left, right = (f"datum.query_along {sign} {WHOLE_RIBBON / 2}" for sign in "-+")
    bar = asked_keys("foot", "datum.query === datum.place").transform_calculate(
        x=f"narrow ? {UPRIGHT - 4} : {left}",
        x2=f"narrow ? {UPRIGHT} : {right}",
        y=f"narrow ? {left} : ground",
        y2=f"narrow ? {right} : ground + 4",
        role="'q'",
    )
    return bar.mark_rect(aria=False, tooltip=None).encode(
        at("x"), down("y"), role_colour("role"), x2="x2:Q", y2="y2:Q", key="place:N"
    )


def words_of_sentence() -> alt.Chart:
    """The words; the query and the keys that lead have the colours of their roles."""
    places = asked_keys("sentence").transform_calculate(
        x="narrow ? 72 : datum.key_along", y="narrow ? datum.key_along : ground + 40"
    )
    limit = "narrow ? 112 : datum.letters * (datum.right - datum.left - 0.15)"
    return written_at(
        places,
        "word",
        font=SERIF,
        fontSize="datum.letters",
        align="narrow ? 'left' : 'center'",
        limit=limit,
        fontWeight="datum.tone === 'q' || datum.tone === 'k' ? 600 : 400",
    )


def shares_of_words(small: int) -> alt.Chart:
    """Below each word, or before it, how much it gets."""
    places = asked_keys("shares").transform_calculate(
        x="narrow ? 62 : datum.key_along",
        y="narrow ? datum.key_along : ground + 84",
        role=f"datum.tone === 'k' ? 'weight' : datum.text === {masked()} ? 'muted' : 'ink'",
    )
    size = f"narrow ? 13 : clamp(datum.letters / 3, 11, {small + 2})"
    return written_at(
        places,
        "text",
        "role",
        fontSize=size,
        align="narrow ? 'right' : 'center'",
        fontWeight="datum.tone === 'k' ? 600 : 400",
    )


def said_below(name: str, query: str, small: int, wide_y: str, narrow_y: str, *, middle: bool = False) -> alt.Chart:
    """What is said of the row of a query at the moment, in the `middle` below the sentence, or of the moment."""
    chart = alt.Chart(alt.NamedData(name="ribbon_says"), name=name).transform_filter(
        f"datum.moment === moment && datum.query === ({query})"
    )
    places = chart.transform_calculate(
        x="narrow ? 0 : width / 2" if middle else "0",
        y=f"narrow ? {narrow_y} : {wide_y}",
        place="0",
        said="narrow ? datum.narrow : datum.wide",
        role="'ink'" if middle else "'muted'",
    )
    align = alt.ExprRef("narrow ? 'left' : 'center'") if middle else "left"
    text = places.mark_text(
        aria=False, align=align, baseline="top", fontSize=small, lineHeight=small + 5, lineBreak="\n"
    )
    return text.encode(at("x"), down("y"), role_colour("role"), text="said:N", key="place:N")


def written_at(places: alt.Chart, text: str, role: str = "tone", *, font: str | None = None, **looks: str) -> alt.Chart:
    """Text at its pixels, whose looks are expressions."""
    look = {name: alt.ExprRef(value) for name, value in looks.items()} | ({"font": font} if font else {})
    written = places.mark_text(aria=False, baseline="middle", **look)
    return written.encode(at("x"), down("y"), role_colour(role), text=f"{text}:N", key="place:N")


def words_to_point_at() -> alt.Chart:
    """The room of each word. Whoever points at it sees its ribbons, and a click makes it the query token."""
    pick = alt.selection_point(name="pick", fields=["query", "standing"], on="click", toggle=False, empty=False)
    ask = alt.selection_point(
        name="ask",
        fields=["query", "standing"],
        on="pointerover",
        empty=False,
        clear="pointerout[event.pointerType === 'mouse']",
    )
    chart = alt.Chart(alt.NamedData(name="ribbon_words"), name="room").transform_calculate(
        query="datum.token", letters=SIZE_OF_LETTERS, role="'ink'"
    )
    left, right = along("datum.token - 0.5", "datum.left"), along("datum.token + 0.5", "datum.right")
    room = chart.transform_calculate(
        x=f"narrow ? 0 : {left}",
        x2=f"narrow ? {UPRIGHT} : {right}",
        y=f"narrow ? {left} : ground",
        y2=f"narrow ? {right} : ground + 102",
    )
    drawn = room.mark_rect(opacity=0, cursor="pointer", tooltip=None).encode(
        at("x"), down("y"), role_colour("role"), x2="x2:Q", y2="y2:Q", description="name:N"
    )
    return drawn.add_params(ask, pick)
