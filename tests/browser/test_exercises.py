"""The exercises in a real browser: from the editor to the verdict, and what a learner may do on the way."""

import re

import pytest

from lessons.code.exercises.every import EXERCISES
from lessons.screen import render
from tests.browser.test_axe import violations
from tests.figures import TABLE_CELL, TABLES

VERDICT = ".st-key-exercise_right, .st-key-exercise_wrong"
NEWLY = """seed => {
    const said = document.querySelector('.st-key-exercise_seed_of_cases p')
    return said && said.innerText !== seed
}"""
MARKUP = 'def f(x):  # <b>a</b>\n    return \'if\' + "\\"not" * 12\n'
LOOP = "n = 0\nwhile True:\n    n += 1\n"


class Desk:
    """The page of one exercise, with its editor."""

    def __init__(self, tab, key):
        self.tab, self.page = tab.open(f"exercises?exercise={key}"), tab.page
        frame = self.page.frame_locator(".st-key-exercise_editor iframe")
        self.code, self.ready, self.status = (
            frame.locator("#code"),
            frame.locator("#run:enabled"),
            frame.locator("#status"),
        )
        self.wrong_line = frame.locator(".cm-gutterElement.wrong")
        self.ready.wait_for()

    @property
    def frame(self):
        """The page in the frame, where code is written and run."""
        return self.page.frame(url=lambda url: "/runner?" in url)

    def written(self):
        """What stands in the editor."""
        return self.frame.evaluate("editor.text()")

    def run(self, code):
        """Run this code; what the page says of it."""
        seed = self.seed()
        self.code.fill(code)
        self.ready.click()
        self.page.wait_for_function(NEWLY, arg=seed)
        self.tab.settled()
        return "\n".join(
            [*self.page.locator(VERDICT).all_inner_texts(), *self.page.locator(".stCode").all_inner_texts()]
        )

    def choose(self, key):
        """Go on to another exercise."""
        choose(self.page, key)
        holds(self, EXERCISES[key].starter)
        self.tab.settled()

    def seed(self):
        """Which cases the last verdict was about."""
        said = self.page.locator(".st-key-exercise_seed_of_cases p")
        return said.inner_text() if said.count() else None


def choose(page, key):
    """Take an exercise from the list."""
    page.locator(".st-key-exercise input").click()
    page.get_by_role("option", name=render(EXERCISES[key].title), exact=True).click()


@pytest.fixture
def desk(visit):
    return lambda key="attention", **settings: Desk(visit(**settings), key)


def test_solutions_pass(desk, whole):
    first, *others = [key for key, exercise in EXERCISES.items() if exercise.drawn][:: 1 if whole else 5]
    at = desk(first)
    assert "Right in all 3 cases." in at.run(EXERCISES[first].solution)
    for key in others:
        at.choose(key)
        assert "Right in all 3 cases." in at.run(EXERCISES[key].solution), key


def test_ones_own_code_finds_the_numbers_of_a_head_of_the_real_model(desk):
    at, exercise = desk("real_head"), EXERCISES["real_head"]
    for change, says in (
        (("rotate(X @ W_k)", "X @ W_k"), "The keys are not turned yet."),
        (("", ""), "Right: these are the numbers of the model itself."),
    ):
        at.code.fill(exercise.solution.replace(*change))
        at.ready.click()
        at.page.get_by_text(says).wait_for()


SOLUTION = EXERCISES["attention"].solution


@pytest.mark.slow
def test_what_the_page_says_of_mistakes(desk):
    at = desk()
    said = at.run(SOLUTION.replace(" / math.sqrt(d_k)", ""))
    assert "The scores are not divided by √d_k." in said and "In case 1, " in said
    assert at.page.locator(".st-key-failing table").count() == 2
    assert "dim=-1" in at.run(SOLUTION.replace("dim=-1", "dim=0"))
    for code, line, words in (
        (SOLUTION.replace("@ W_k", "@ Wk"), 3, "NameError: name 'Wk' is not defined"),
        (SOLUTION.replace("X @ W_v", "X @ W_v)"), 4, "SyntaxError: unmatched ')'"),
        (SOLUTION.replace("K.T", "K"), 6, "mat1 and mat2 shapes cannot be multiplied (4x2 and 4x2)"),
        ("print('here')\nimport numpy", 2, "This page lacks numpy"),
        ("def f(n):\n    return f(n + 1)\nf(0)", 2, "RecursionError"),
        ("raise SystemExit", 1, "SystemExit"),
        (SOLUTION.replace("torch.softmax", "torch.soft"), 7, "module 'torch' has no attribute 'soft'"),
        (SOLUTION.replace("torch.softmax", "torch.kron"), 7, "This page lacks torch.kron"),
    ):
        said = at.run(code)
        assert f"Your code stopped on line {line}." in said and words in said, said
        assert at.wrong_line.inner_text() == str(line)
    assert "nothing in your code is called scaled_dot_product_attention" in at.run("x = 1")
    assert "context should be a tensor; it is still None" in at.run(EXERCISES["attention"].starter)


def test_the_frame_shows_code_and_what_is_printed_as_they_are_and_has_an_origin_of_its_own(desk):
    at = desk()
    at.code.fill(MARKUP)
    frame = at.frame
    assert "\n".join(frame.locator(".cm-line").all_inner_texts()).strip() == MARKUP.strip()
    kinds = frame.locator(".cm-line span").evaluate_all(
        "spans => spans.map(span => [span.className, span.textContent])"
    )
    assert kinds == [
        ["keyword", "def"],
        ["comment", "# <b>a</b>"],
        ["keyword", "return"],
        ["string", "'if'"],
        ["string", '"\\"not"'],
        ["number", "12"],
    ]
    assert frame.evaluate("origin") == "null"
    for way in ("localStorage", "document.cookie", "parent.document", "top.location.href"):
        with pytest.raises(Exception, match=r"SecurityError|sandboxed|Blocked"):
            frame.evaluate(way)
    said = at.run("print('![x](http://127.0.0.1:9/a.png) <b>', torch.ones(2, 3))\nraise ValueError('**x** :red[a]')")
    assert "![x](http://127.0.0.1:9/a.png) <b> tensor([[1., 1., 1.],\n        [1., 1., 1.]])" in said
    assert "ValueError: **x** :red[a]" in said
    does_not_fit(at)


def does_not_fit(at):
    """What is refused in a sentence and not run."""
    for code, words in (
        ("x" * 10**6, "Your code has 1,000,000 characters; at most 20,000 can be run."),
        ("x = 1\ny = '\u202e'", "Line 2 contains an invisible character (U+202E)."),
        ("x = 1\x07", "Line 1 contains an invisible character (U+0007)."),
    ):
        at.frame.evaluate("text => editor.replace(text)", code)
        at.ready.click()
        at.page.wait_for_function("() => true")
        assert words in at.status.inner_text()
    at.frame.evaluate("editor.replace('x = 1 # ' + String.fromCharCode(0xD800))")
    at.ready.click()
    at.page.wait_for_function("() => true")
    assert "Line 1 contains an invisible character (U+D800)." in at.status.inner_text()
    assert "Right" in at.run(SOLUTION)


def test_a_loop_without_an_end_is_stopped_and_the_next_run_is_fine(desk):
    at = desk()
    said = at.run(LOOP)
    assert "It ran longer than 4 seconds and was stopped." in said
    [length] = (
        at.page.frame_locator(".st-key-exercise_editor iframe")
        .locator("body")
        .evaluate("() => performance.getEntriesByName('run').map(run => run.duration)")
    )
    assert 4000 <= length < 5000
    assert "Right in all 3 cases." in at.run(SOLUTION)


@pytest.mark.slow
def test_the_keyboard_of_the_editor(desk):
    at = desk("mask")
    at.code.fill("")
    at.code.press_sequentially("def f(x):\nreturn x", delay=0)
    assert at.written() == "def f(x):\n    return x", "a new line is indented as the last, and more after a colon"
    at.code.press("Home")
    at.code.press("Tab")
    assert at.written() == "def f(x):\n        return x"
    at.code.press("Shift+Tab")
    assert at.written() == "def f(x):\n    return x"
    at.code.press("Control+z")
    assert at.written() == "def f(x):\n        return x", "what a key did can be undone"
    at.code.press("Escape")
    at.code.press("Tab")
    assert at.frame.evaluate("document.activeElement.id") == "run", "Escape, then Tab leaves the editor"
    at.code.fill(EXERCISES["mask"].solution)
    at.code.press("Control+Enter")
    at.page.get_by_text("Right in all 3 cases.").wait_for()


FOCUSED = """() => {
    let at = document.activeElement
    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
    return at.dataset.at ?? at.tagName
}"""


def read(number):
    return float(number.replace("−", "-"))


def test_a_case_that_fails_is_read_by_pointing_and_by_keys_and_keeps_nobody_out(desk):
    at = desk("scores")
    at.run("def scaled_scores(Q, K):\n    return Q @ K.T\n")
    figure = at.page.locator(f".st-key-failing {TABLES}")
    figure.wait_for()
    cells, says = figure.locator(TABLE_CELL), figure.locator("output")
    numbers = cells.all_inner_texts()
    assert len(numbers) == 24 and all(re.fullmatch(r"−?\d+\.\d+", number) for number in numbers)
    before = says.inner_text()
    cells.nth(7).hover()  # row 1, column 3 of what is expected
    told, number = says.inner_text().split(": ")  # with two decimals, which its cell has no room for
    assert told == "expected scores, 1 → 3" and abs(read(number) - read(numbers[7])) < 0.051
    assert figure.locator(".lit[data-at]").evaluate_all("lit => lit.map(one => one.dataset.at)") == ["0,1,3", "1,1,3"]
    assert figure.locator("th.lit").all_text_contents() == ["3", "1", "1"]
    figure.locator("caption").first.hover()
    at.page.mouse.move(0, 0)
    assert says.inner_text() == before and figure.locator(".lit").count() == 0
    assert figure.locator("[tabindex='0']").count() == 1, "one stop of Tab"
    address = at.page.url
    cells.nth(0).focus()
    for key, where in (("ArrowRight", "0,0,1"), ("ArrowDown", "0,1,1"), ("End", "0,1,3"), ("ArrowRight", "1,1,0")):
        at.page.keyboard.press(key)
        assert at.page.evaluate(FOCUSED) == where
    at.page.keyboard.press("ArrowLeft")
    at.page.keyboard.press("Home")
    assert at.page.evaluate(FOCUSED) == "0,1,0" and "1 → 0: " in says.inner_text()
    at.page.keyboard.press("Tab")
    assert at.page.evaluate(FOCUSED) not in ("0,1,0", "1,0,0") and at.page.url == address
    for look in ((1440, "light"), (390, "dark")):
        assert not [*violations(at.tab, *look)]
        assert figure.evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.slow
def test_on_a_projector_the_code_is_larger_and_the_case_that_fails_is_seen_whole(visit):
    sizes, numbers = [], []
    for large in ("false", "true"):
        at = Desk(visit(), f"scores&large={large}")
        at.run("def scaled_scores(Q, K):\n    return Q @ K.T\n")
        sizes.append(at.code.evaluate("field => parseFloat(getComputedStyle(field).fontSize)"))
        box = at.page.locator(f".st-key-failing {TABLES}")
        box.wait_for()
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        numbers.append(box.locator(TABLE_CELL).first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)"))
    assert sizes[1] > 1.2 * sizes[0] and sizes[1] >= 18 and numbers[1] >= 22


@pytest.mark.slow
def test_code_is_kept_on_other_pages_and_over_a_reload_of_this_browser(desk):
    at = desk("mask")
    at.code.fill("# mine, not yet run")
    at.page.get_by_test_id("stTopNavLink").filter(has_text="Mask").click()
    at.page.wait_for_url("**/mask**")
    at.tab.settled()
    at.page.get_by_test_id("stTopNavLink").filter(has_text="Exercises").click()
    choose(at.page, "mask")
    holds(at, "# mine, not yet run")
    at.run("# mine, run once")
    at.page.goto(f"{at.tab.url}/exercises?exercise=mask")
    holds(at, "# mine, run once")


def holds(at, code):
    """Wait until the editor holds this code."""
    at.ready.wait_for()
    at.frame.wait_for_function("code => editor.text() === code", arg=code)


STRANGER = """<iframe sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" srcdoc="<button onclick='
    const opened = window.open(`URL`)
    const written = {type: `attention-lab:keep`, exercise: `mask`, code: `# of another site`};
    setInterval(() => {
        for (const one of [opened, ...Array.from({length: opened.frames.length}, (_, at) => opened.frames[at])]) {
            one.postMessage(written, `*`);
            one.postMessage({...written, word: ``}, `*`);
            one.postMessage({type: `attention-lab:given`, given: {what: `code`, word: `x`}}, `*`);
            one.postMessage({type: `attention-lab:sent`, sent: {exercise: `mask`, code: `# of another site`}}, `*`);
            one.postMessage({...written, word: `x`}, `*`);
        }
    }, 50)'>open</button>"></iframe>"""


@pytest.mark.slow
def test_another_site_that_opens_the_page_cannot_overwrite_what_is_kept(visit):
    at = visit()
    with at.page.context.new_page() as stranger:
        stranger.set_content(STRANGER.replace("URL", f"{at.url}/exercises?exercise=scores"))
        with stranger.expect_popup() as opening:
            stranger.frame_locator("iframe").locator("button").click()
        popup = opening.value
        editor = popup.frame_locator(".st-key-exercise_editor iframe")
        editor.locator("#run:enabled").wait_for()
        popup.wait_for_timeout(200)  # the other site has written by then, more than once
        editor.locator("#code").fill("# mine")
        kept = "JSON.parse(localStorage.getItem('attention-lab exercises') ?? '{}')"
        popup.wait_for_function(f"() => ({kept}).scores === '# mine'")
        assert popup.evaluate(kept) == {"scores": "# mine"}
