"""Messages that no browser sends: to the websocket, as a program can write them."""

import asyncio
import json
import math

import pytest
import websockets
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.client import Session
from tests.figures import FIGURE_KIND, TABLES_KIND

HUGE = "x" * 100_000
BESIDE = 20.0  # seconds a slow machine may take to answer
NO_OPTION = [[HUGE], [], ["no", "such", "option"], [""], ["<b>bold</b>"], ["\u202e"]]
TEXTS = [
    HUGE,
    "",
    "<script>alert(1)</script>",
    "\x00\x07\u202e\ufeff\u2066",
    "![x](http://127.0.0.1:9/p.png)",
    "q1,2=1e999;x1,1=NaN;q99,99=1;zzz",
    "\U0010ffff\ue000\ufffe",
    "=" * 500,
    ";,=" * 30_000,
    "👩‍👩‍👧" * 900,
]
PICKS = [
    *("x", 7, [], [1], {"cell_tag": 1}, [{}], [{"cell_tag": ["|x 0,0|"]}]),
    *([{"cell_tag": tag}] for tag in ("|weights 9999,9999|", "|<b>no</b> 0,0|", HUGE)),
]
CELLS = [[], [1, 2, 3], ["x"], ["weights", 9999, 9999], ["<b>no</b>", 0, 0], [HUGE, 0, 0], ["x", True, 0], ["x", -1, 0]]
SELECTIONS = [json.dumps({"selection": {"pick": pick}}) for pick in PICKS]
ANSWER = {"exercise": "scores", "seed": 0, "code": "x", "answer": "{}"}
PARTS = [  # what the frames of the exercises and of the progress send
    *(None, 5, "x", [], {}, HUGE, {"exercise": HUGE}, {"exercise": []}, ANSWER, ANSWER | {"code": "x" * 10**6}),
    *(ANSWER | {"answer": "[" * 10**5}, ANSWER | {"seed": HUGE, "code": "\ud800\x00"}, ANSWER | {"answer": [[{}]]}),
    *(
        {"kept": {"scores": HUGE, "mask": 5}},
        {"kept": {"scores": "\ud800"}},
        {"kept": [HUGE]},
        {"kept": 1, "solved": 1},
    ),
    *({"solved": {"lessons": ["mask"] * 10**5, "exercises": {"a": 1}}}, {"solved": {"lessons": [[], {}, HUGE, 1e308]}}),
]
HANDS = [
    {"cell": cell, "value": value, "done": done, "asked": asked}
    for cell in (["x", 0, 0], ["W_q", 0, 0], ["x", 10**9, 0], [HUGE, 0, 0])
    for value, done, asked in (
        (1.5, True, 1),
        (HUGE, True, 2),
        (1e308, False, 10**40),
        (None, False, -1),
        ([{}], 1, "x"),
    )
]
MISSHAPEN = ["", "x", "5", "[]", "null", json.dumps(HUGE)]
# What each kind of widget sends, in the field of the message that Streamlit expects there.
VALUES = {
    "slider": ("double_array_value", [[math.nan], [math.inf], [1e300], [-1e300], [], [2.5], [1, 2, 3]]),
    "select_slider": ("string_array_value", NO_OPTION),
    "button_group": ("string_array_value", NO_OPTION),
    "number_input": ("double_value", [1e300, -1e300, 2.5, 1e-320, -0.0]),
    "checkbox": ("bool_value", [True, False]),
    "selectbox": ("string_value", TEXTS),
    "text_input": ("string_value", TEXTS),
    "text_area": ("string_value", TEXTS),
    FIGURE_KIND: ("string_value", SELECTIONS),
    TABLES_KIND: (
        "json_value",
        [json.dumps({"known": part, "sent": part, "picked": part}) for part in PARTS]
        + [json.dumps({"picked": cell}) for cell in CELLS]
        + [json.dumps({"by_hand": hand}) for hand in HANDS]
        + MISSHAPEN,
    ),
}
WRONG_KINDS = [
    ("string_value", HUGE),
    ("string_value", "null"),
    ("double_value", math.nan),
    ("double_value", math.inf),
    ("int_value", 2**62),
    ("bool_value", True),
    ("trigger_value", True),
    ("double_array_value", [math.nan, 1e300]),
    ("string_array_value", [HUGE, "<img src=x>"]),
    ("int_array_value", [2**60]),
    ("bytes_value", b"\xff\xfe"),
    ("json_value", '{"a":'),
    ("json_value", "[" * 50_000 + "]" * 50_000),
    ("json_trigger_value", "null"),
]


def forge(message, widget_id, field, value):
    """Put a value for this widget into the message, in place of what the visitor's page says."""
    states = message.rerun_script.widget_states.widgets
    for place in reversed([place for place, state in enumerate(states) if state.id == widget_id]):
        del states[place]
    state = states.add(id=widget_id)
    if isinstance(value, list):
        getattr(state, field).SetInParent()
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)


def key(shown):
    return shown.id.rsplit("-", 1)[-1]


def answered(session, message):
    return asyncio.wait_for(session.ask(message), BESIDE)


async def menu(port):
    async with Session(port) as visitor:
        await visitor.open()
        return visitor.pages


@pytest.mark.slow
def test_values_of_the_right_kind_may_say_anything(server, finish, quiet_log):
    async def run():
        known = set()
        for path in await menu(server.port):
            async with Session(server.port) as visitor:
                await visitor.open(path, "example=sentence")
                new = [
                    shown
                    for shown in visitor.elements()
                    if shown.kind in VALUES and shown.id and key(shown) not in known
                ]
                known |= set(map(key, new))
                for number in range(max((len(VALUES[shown.kind][1]) for shown in new), default=0)):
                    message = visitor.message()
                    for shown in new:
                        field, values = VALUES[shown.kind]
                        forge(message, shown.id, field, values[number % len(values)])
                    await answered(visitor, message)
                    assert visitor.exceptions == [], (path, number)
                assert visitor.texts(), path

    finish(run())


@pytest.mark.slow
def test_where_streamlit_itself_stumbles_no_word_of_the_program_is_told(server, finish):
    """Values of a wrong kind, and numbers that are none: the forger reads a sentence, all others go on."""

    async def run():
        for path in ("", "train"):
            for field, value in WRONG_KINDS:
                async with Session(server.port) as visitor:
                    await visitor.open(path)
                    message = visitor.message()
                    for shown in (shown for shown in visitor.elements() if shown.id):
                        forge(message, shown.id, field, value)
                    await answered(visitor, message)
                    for shown in visitor.elements("exception"):
                        assert "error" in shown.proto.message
                        assert not shown.proto.stack_trace
                        assert "site-packages" not in str(shown.proto)

    finish(run())
    assert "x" * 1000 not in server.log()
    assert "Traceback" not in server.log()


def test_widgets_that_do_not_exist_change_nothing(server, finish, quiet_log):
    async def run():
        async with Session(server.port) as visitor:
            await visitor.open()
            texts = visitor.texts()
            message = visitor.message()
            for number in range(2000):
                forge(message, f"$$ID-{number}-no_such_widget", "string_value", "x")
            await answered(visitor, message)
            assert visitor.texts() == texts
            assert visitor.exceptions == []

    finish(run())


@pytest.mark.parametrize(
    ("page_hash", "page_name"),
    [("0" * 32, ""), ("../../etc/passwd", ""), ("", "no_such_page"), ("", "../../app.py"), (HUGE, ""), ("", "%00<b>")],
)
def test_a_page_that_does_not_exist_is_answered_with_one_that_does(server, finish, quiet_log, page_hash, page_name):
    async def run():
        async with Session(server.port) as visitor:
            await visitor.open()
            message = visitor.message()
            message.rerun_script.page_script_hash = page_hash
            message.rerun_script.page_name = page_name
            await answered(visitor, message)
            assert visitor.exceptions == []
            assert visitor.elements(TABLES_KIND)

    finish(run())


def test_a_fragment_that_does_not_exist_is_ignored_and_the_session_goes_on(server, finish, quiet_log):
    async def run():
        async with Session(server.port) as visitor:
            await visitor.open("train")
            for fragment in ("nothing", HUGE, "<b>"):
                await visitor.send(visitor.message(fragment_id=fragment).SerializeToString())
            assert await visitor.set("steps", 300) < BESIDE
            assert visitor.exceptions == []

    finish(run())


@pytest.mark.parametrize(
    "query",
    [
        "text=" + "x" * 100_000,
        "example=sentence&text=%ED%A0%80%FF%00%E2%80%AE",
        "&".join(f"p{n}=1" for n in range(5000)),
        "d_k=1&d_k=2&d_k=3",
        "d_k=" + "9" * 5000,
        "d_k=1_0&seed=٣&heads=١e٣",
        "seed=nan&heads=-inf&steps=1e308",
        "edits=" + "q1,1=1;" * 20_000,
        "hide=" + "," * 10_000,
        "=&&==&%",
        "step[]=1&__proto__=1&causal=",
        "rate=nan",
        "rate=1e999&heat=nan",
    ],
)
def test_any_address_is_answered(server, finish, quiet_log, query):
    async def run():
        for path in ("", "train"):
            async with Session(server.port) as visitor:
                await asyncio.wait_for(visitor.open(path, query), BESIDE)
                assert visitor.exceptions == []
                assert visitor.elements(FIGURE_KIND) or visitor.elements(TABLES_KIND)

    finish(run())


@pytest.mark.parametrize("data", [b"\xff" * 50, b"\x00", b"\x0a\xff\xff\xff\xff\x0f", "text"])
def test_what_is_no_message_closes_the_line_of_its_sender_alone(server, finish, data):
    async def run():
        address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
        async with (
            Session(server.port) as other,
            websockets.connect(address, subprotocols=["streamlit"], max_size=None) as line,
        ):
            await other.open(query_string="example=journey")
            await line.send(data)
            with pytest.raises(websockets.ConnectionClosed):
                async with asyncio.timeout(BESIDE):
                    while True:
                        await line.recv()
            await other.set("d_k", 5)
            assert other.exceptions == []

    finish(run())
    assert "Traceback" not in server.log()


def test_what_is_sent_in_the_name_of_another_part_is_shown(server, finish, quiet_log):
    """So the front end sends what changes at the moment at which the part that stores has something to tell."""

    async def run():
        async with Session(server.port) as visitor:
            await visitor.open("build")
            keeper, number = visitor.widget("progress_keeper"), visitor.widget("set_first_W_q_0_0")
            assert keeper.fragment_id and not number.fragment_id
            message = visitor.message(fragment_id=keeper.fragment_id)
            message.rerun_script.widget_states.widgets.append(WidgetState(id=number.id, double_value=3.0))
            await visitor.ask(message)
            await visitor.settle()
            assert "built=q1%2C1%3D3" in visitor.query_string

    finish(run())
