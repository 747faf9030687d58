"""One test for each thing of Streamlit that is not promised: it fails where Streamlit does it differently by now."""

import json

from streamlit.testing.v1 import AppTest

from attention_ui.streamlit_insides import front_end_folder, running_session, version_of_folder


def test_the_front_end_lies_where_it_is_looked_for():
    folder = front_end_folder()
    start = (folder / "index.html").read_text(encoding="utf-8")
    assert "<script>" in start and 'src="./static/js/' in start
    assert list((folder / "static" / "js").glob("*.js")) and list((folder / "static" / "css").glob("*.css"))


def test_a_page_knows_whose_it_is_and_nobody_is_there_outside_of_one():
    def page():
        import streamlit as st

        from attention_ui.streamlit_insides import running_session

        st.text(running_session())

    assert running_session() is None
    assert len(AppTest.from_function(page).run().text[0].value) > 5


def part_page(folder):
    import streamlit as st

    from attention_ui.streamlit_insides import part_of_page

    part_of_page(folder, "part.js")(key="mine", data={"given": [1.5]}, on_told_change=lambda: None)
    st.text(st.session_state["mine"].get("told"))


def test_a_part_that_a_script_draws_gets_what_it_is_given_and_tells_what_it_sends(tmp_path):
    version_of_folder.cache_clear()
    for version in "ab":  # each in a server of its own, as a test has
        (tmp_path / "part.js").write_text(version)
        version_of_folder.cache_clear()
        at = AppTest.from_function(part_page, args=(tmp_path,)).run()
        [part] = at.get("bidi_component")
        assert not at.exception
        assert part.proto.component_name == f"attention-lab.{tmp_path.name}_{version_of_folder(tmp_path)}"
        assert part.proto.js_source_path == "part.js" and json.loads(part.proto.json) == {"given": [1.5]}
        at.session_state["mine"] = {"told": "so"}
        assert at.run().text[0].value == "so"


def test_the_name_of_a_part_is_another_when_a_file_of_its_folder_is(tmp_path):
    (tmp_path / "part.js").write_text("a")
    first = version_of_folder(tmp_path)
    (tmp_path / "beside.js").write_text("a")
    version_of_folder.cache_clear()
    assert first != version_of_folder(tmp_path)


def test_the_copy_of_a_page_runs_and_the_original_stays_as_it_was():
    def frame():
        import streamlit as st

        from attention_ui.streamlit_insides import page_of_one_run

        made = [st.Page(lambda: st.text("this page"), title="One", url_path="one"), st.Page(print, url_path="two")]
        before = [vars(page).copy() for page in made]
        chosen = st.navigation([page_of_one_run(page) for page in made])
        st.text(f"unchanged: {[vars(page) for page in made] == before}")
        chosen.run()
        st.navigation(made)
        st.text(f"without a copy: {[vars(page) for page in made] == before}")

    at = AppTest.from_function(frame).run()
    assert not at.exception
    assert [text.value for text in at.text] == ["unchanged: True", "this page", "without a copy: False"]


def test_a_run_ends_where_it_is_checked_once_another_was_asked_for():
    def page():
        import streamlit as st
        from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

        from attention_ui.streamlit_insides import check_rerun

        check_rerun()
        reached = st.session_state.setdefault("reached", [])
        if not reached:
            get_script_run_ctx().script_requests.request_rerun(RerunData())
            reached.append("asked for another run")
            check_rerun()
            reached.append("went on")
        reached.append("the end")

    assert AppTest.from_function(page).run().session_state["reached"] == ["asked for another run", "the end"]


def test_a_browser_is_known_by_its_cookie_however_that_is_masked(monkeypatch):
    from types import SimpleNamespace

    from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

    from attention_ui import streamlit_insides

    def mark(cookies):
        monkeypatch.setattr(streamlit_insides, "st", SimpleNamespace(context=SimpleNamespace(cookies=cookies)))
        return streamlit_insides.browser_mark()

    masked = [generate_xsrf_token_string(b"this browser", 5) for _ in range(2)]
    assert masked[0] != masked[1]
    assert {mark({"_streamlit_xsrf": cookie}) for cookie in masked} == {b"this browser"}
    for forged in ("", "x", "2|", "2|zz|zz|5", "💥", "9" * 5000 + "x"):
        assert mark({"_streamlit_xsrf": forged}) is None
    assert mark({}) is None


def test_nobody_is_drawn_anew_where_no_server_runs():
    from attention_ui.streamlit_insides import session_is_open

    assert not session_is_open("a visit")


def test_what_controls_say_in_the_address_is_known_whatever_the_browser_sent_along():
    def page():
        import streamlit as st

        from attention_ui.streamlit_insides import address_by_controls, address_given

        st.slider("", 0.1, 5.0, 1.0, 0.1, key="heat", bind="query-params")
        st.slider("", 0, 9, 3, key="seed", bind="query-params")
        st.toggle("", key="mask", bind="query-params")
        st.text_input("", "cat", key="text", bind="query-params")
        st.select_slider("", range(1, 5), 1, key="head", bind="query-params")
        st.text_input("", key="other")
        st.json({"by": address_by_controls(), "given": address_given()})

    def told(at):
        return json.loads(at.json[0].value)

    at = AppTest.from_function(page)
    at.query_params["seed"] = "5"
    assert told(at.run()) == {
        "by": {"heat": None, "seed": "5", "mask": None, "text": None, "head": None},
        "given": {"seed": ["5"]},
    }
    at.slider[0].set_value(1.3)
    at.toggle[0].set_value(True)
    at.text_input[0].set_value("a & b")
    at.select_slider[0].set_value(4)
    at.slider[1].set_value(3)
    assert told(at.run())["by"] == {"heat": "1.3", "seed": None, "mask": "true", "text": "a & b", "head": "4"}


def test_a_browser_that_has_connected_again_has_a_page_drawn_of_which_a_part_is_run_again_and_again():
    """What is run so is said once a day; tests/browser/test_class_restart.py sees the page drawn."""

    def page():
        import streamlit as st

        from attention_ui.streamlit_insides import drawn_when_connected

        drawn_when_connected(lambda text: st.text(text))("a part")

    at = AppTest.from_function(page).run()
    assert not at.exception and at.text[0].value == "a part"
    scripts = (file.read_text(encoding="utf-8") for file in (front_end_folder() / "static" / "js").glob("index.*.js"))
    assert any("autoRerunIntervals.size>0?" in script and "Reconnected to server" in script for script in scripts)
