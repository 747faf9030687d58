"""What moves a chart through its moments. The browser plays it: Vega-Lite hands a parameter's `on` to Vega as it is, so
a timer can move the moment.
"""

from collections.abc import Sequence

from lessons.screen import translate

TICK = 25  # milliseconds
PACES = (2, 5, 10, 20, 40)  # moments a second
USUAL_PACE = 5  # so that one can follow how a head forms


def film_words(count: int, jumps: Sequence[tuple[str, int]] = (), **names: str) -> dict[str, object]:
    """What the browser needs to move through so many moments; where one has `names` for it, the pace is ours."""
    usual = {
        "play": translate("play"),
        "pace": translate("frames a second"),
        "moment": translate("moment"),
        "jump": translate("jump to"),
    }
    return {"count": count, "jumps": [*map(list, jumps)], "paces": PACES, "pace": USUAL_PACE, "words": usual | names}


def playing(n_frames: int) -> list[dict]:
    """What moves the moment: time while it plays, and the slider. At the end it stops; playing then begins anew.

    Nothing plays before somebody asks for it: what a run has come to is seen first, and who asks for less motion is
    known to the browser alone.
    """
    last, tick = n_frames - 1, {"type": "timer", "throttle": TICK}
    on_time = f"playing && now() - shown >= 1000 / pace ? min({last}, moment + 1) : moment"
    paces = {"input": "select", "options": list(PACES), "name": translate("frames a second")}
    slider = {"input": "range", "min": 0, "max": last, "step": 1, "name": translate("moment")}
    return [
        # Not on the signal of the moment, which listens to this one: Vega cannot begin with a circle.
        {
            "name": "playing",
            "value": False,
            "bind": {"input": "checkbox", "name": translate("play")},
            "on": [{"events": tick, "update": f"playing && moment < {last}"}],
        },
        {"name": "pace", "value": USUAL_PACE, "bind": paces},
        {"name": "shown", "value": 0, "on": [{"events": {"signal": "moment"}, "update": "now()"}]},
        {
            "name": "moment",
            "value": last,
            "bind": slider,
            "on": [
                {"events": tick, "update": on_time},
                {"events": {"signal": "playing"}, "update": f"playing && moment === {last} ? 0 : moment"},
            ],
        },
    ]
