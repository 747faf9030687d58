"""What Streamlit's AppTest does anew for each run of a page, done once."""

from functools import cache
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner


def quicken_visits() -> None:
    """AppTest looks for components in all installed packages and compiles all files of a page, again for each run of
    it, and looks every millisecond whether that is over.

    That is more than half the time of a run, and always finds the same.
    """
    compiled, wait = local_script_runner.ScriptCache(), local_script_runner.require_widgets_deltas

    def join_first(runner: Any, timeout: float) -> None:
        runner._script_thread.join(timeout)
        wait(runner, timeout)

    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    local_script_runner.ScriptCache = lambda: compiled
    local_script_runner.require_widgets_deltas = join_first
