"""The files of deploy/ agree with the app and with each other, as far as can be told without running them."""

import re
import subprocess

import pytest
from replicas import HAPROXY, ROOT, local_configuration

DEPLOY = ROOT / "deploy"


def read_yaml(text):
    """The documents of a text in the small part of YAML that deploy/ uses; whatever is more than that fails."""
    return [block(lines_of(part), 0)[0] for part in re.split(r"(?m)^---$", text)]


def lines_of(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert not any("\t" in line or line != line.rstrip() for line in lines)
    return [(len(line) - len(line.lstrip()), line.strip()) for line in lines]


def block(lines, at):
    """The value that begins at a line, and the line after it."""
    indent, first = lines[at]
    values = [] if first.startswith("- ") else {}
    while at < len(lines) and lines[at][0] == indent:
        words = lines[at][1]
        if isinstance(values, list):
            assert words.startswith("- "), words
            if re.match(r"- [\w.]+:( |$)", words):
                lines[at] = (indent + 2, words[2:])
                value, at = block(lines, at)
            else:
                value, at = scalar(words[2:]), at + 1
            values.append(value)
            continue
        key, rest = re.fullmatch(r"([\w./-]+):(?: (.+))?", words).groups()
        assert key not in values, f"{key} twice"
        if rest is not None:
            values[key], at = scalar(rest), at + 1
        else:
            assert lines[at + 1][0] > indent or lines[at + 1][1].startswith("- "), words
            values[key], at = block(lines, at + 1)
    assert at == len(lines) or lines[at][0] < indent, lines[at]
    return values, at


def scalar(text):
    if text[0] == '"':
        return re.fullmatch(r'"([^"]*)"', text)[1]
    assert ": " not in text and " #" not in text, text
    return {"true": True, "false": False}.get(text, int(text) if text.isdigit() else text)


def test_the_small_reader_reads():
    text = 'a:\n  - b: 1\n    c: "2"\n  - d\ne: true\n---\nf: x\n'
    assert read_yaml(text) == [{"a": [{"b": 1, "c": "2"}, "d"], "e": True}, {"f": "x"}]
    for wrong in ("a: 1\na: 2", "a:\n  b: 1\n c: 2", "a: 1\n\tb: 2", "a\nb"):
        with pytest.raises((AssertionError, AttributeError)):
            read_yaml(wrong)


def test_the_composition_has_several_replicas_with_one_secret_behind_the_proxy():
    [compose] = read_yaml((DEPLOY / "compose.yaml").read_text())
    app, proxy = compose["services"]["app"], compose["services"]["proxy"]
    assert (
        ROOT / "deploy" / app["build"]["context"] / app["build"]["dockerfile"]
    ).resolve() == DEPLOY / "Containerfile"
    assert app["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"].startswith("${COOKIE_SECRET:?")
    assert app["read_only"] is True
    [template] = re.findall(r"server-template lab (\d+) app:8501", (DEPLOY / "haproxy.cfg").read_text())
    assert 2 <= app["deploy"]["replicas"] <= int(template)
    assert proxy["volumes"][0].startswith("./haproxy.cfg:")


def test_kubernetes_asks_healthz_and_keeps_a_visitor_where_he_is():
    deployment, service, ingress = read_yaml((DEPLOY / "kubernetes.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["replicas"] > 1
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["ports"] == [{"name": "http", "containerPort": 8501}]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/affinity"] == "cookie"


def test_the_image_takes_all_that_the_app_is_made_of_and_runs_as_nobody_special():
    lines = (DEPLOY / "Containerfile").read_text()
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text().split()
    for part in ("requirements.txt", ".streamlit", "attention_core", "attention_ui", "pages", "app.py"):
        assert re.search(rf"(?m)^COPY {re.escape(part)} ", lines)
        assert f"!{part}" in ignored
        assert (ROOT / part).exists()
    assert re.search(r"(?m)^USER 10001$", lines)
    assert "127.0.0.1:8501/healthz" in lines
    assert "whl/cpu" in lines and re.search(r"(?m)^torch==", (ROOT / "requirements.txt").read_text())


@pytest.mark.skipif(HAPROXY is None, reason="no HAProxy here: install it (Debian: apt install haproxy)")
def test_haproxy_finds_nothing_wrong(tmp_path):
    for text in ((DEPLOY / "haproxy.cfg").read_text(), local_configuration(8080, 8501, 8502)):
        file = tmp_path / "haproxy.cfg"
        file.write_text(text)
        checked = subprocess.run([HAPROXY, "-c", "-f", file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        assert "WARNING" not in checked.stderr, checked.stderr


def test_every_setting_named_in_the_guide_is_one_that_the_app_reads():
    guide = (DEPLOY / "README.md").read_text()
    source = "".join(file.read_text() for file in (ROOT / "attention_ui" / "server").glob("*.py"))
    assert set(re.findall(r"ATTENTION_LAB_\w+", guide)) == set(re.findall(r"ATTENTION_LAB_\w+", source))
