"""The files of deploy/ agree with the app and with each other, as far as can be told without running them."""

import re
import subprocess
from ipaddress import ip_address, ip_network

import pytest
import yaml
from replicas import HAPROXY, ROOT, local_configuration

from attention_ui.process.addresses import PROXIES

DEPLOY = ROOT / "deploy"


class OnceEach(yaml.SafeLoader):
    """Reads YAML, in which no key may come twice: of two, the first would silently be lost."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"twice among {keys}"
        return super().construct_mapping(node, deep)


def read_yaml(name):
    return list(yaml.load_all((DEPLOY / name).read_text(), OnceEach))


def test_the_composition_has_several_replicas_with_one_secret_behind_the_proxy():
    [compose] = read_yaml("compose.yaml")
    app, proxy = compose["services"]["app"], compose["services"]["proxy"]
    assert (
        ROOT / "deploy" / app["build"]["context"] / app["build"]["dockerfile"]
    ).resolve() == DEPLOY / "Containerfile"
    assert app["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"].startswith("${COOKIE_SECRET:?")
    assert app["read_only"] is True
    [template] = re.findall(r"server-template lab (\d+) app:8501", (DEPLOY / "haproxy.cfg").read_text())
    assert 2 <= app["deploy"]["replicas"] <= int(template)
    assert proxy["volumes"][0].startswith("./haproxy.cfg:")


def test_the_app_believes_the_proxy_where_a_visitor_comes_from_and_nobody_else():
    [compose] = read_yaml("compose.yaml")
    [proxy] = compose["services"]["proxy"]["networks"].values()
    assert compose["services"]["app"]["environment"]["FORWARDED_ALLOW_IPS"] == proxy["ipv4_address"]
    [network] = compose["networks"]["default"]["ipam"]["config"]
    assert ip_address(proxy["ipv4_address"]) in ip_network(network["subnet"])
    assert "option forwardfor" in (DEPLOY / "haproxy.cfg").read_text()
    [deployment] = [document for document in read_yaml("kubernetes.yaml") if document["kind"] == "Deployment"]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    given = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert ip_network(given["FORWARDED_ALLOW_IPS"]).prefixlen > 8
    assert PROXIES in (DEPLOY / "README.md").read_text()


def test_all_replicas_keep_the_votes_in_one_database():
    [compose] = read_yaml("compose.yaml")
    app, votes = compose["services"]["app"], compose["services"]["votes"]
    url = app["environment"]["ATTENTION_LAB_CLASSES_URL"]
    assert re.fullmatch(r"postgresql://lab:\$\{VOTES_PASSWORD:\?[^}]+\}@votes/lab", url)
    assert (votes["environment"]["POSTGRES_USER"], votes["environment"]["POSTGRES_DB"]) == ("lab", "lab")
    assert votes["volumes"][0].split(":")[0] in compose["volumes"] and "ports" not in votes
    documents = {
        (document["kind"], document["metadata"]["name"]): document for document in read_yaml("kubernetes.yaml")
    }
    app, database = (
        documents[of]["spec"]["template"]["spec"]["containers"][0]
        for of in (("Deployment", "attention-lab"), ("StatefulSet", "attention-lab-votes"))
    )
    given = {variable["name"]: variable for variable in app["env"]}
    assert given["ATTENTION_LAB_CLASSES_URL"]["value"] == "postgresql://lab:$(VOTES_PASSWORD)@attention-lab-votes/lab"
    assert list(given).index("VOTES_PASSWORD") < list(given).index("ATTENTION_LAB_CLASSES_URL"), (
        "named before it is used"
    )
    secret = {variable["name"]: variable for variable in database["env"]}["POSTGRES_PASSWORD"]["valueFrom"]
    assert secret == given["VOTES_PASSWORD"]["valueFrom"]
    service = documents["Service", "attention-lab-votes"]["spec"]
    assert service["selector"] == documents["StatefulSet", "attention-lab-votes"]["spec"]["selector"]["matchLabels"]
    assert re.search(r"(?m)^psycopg\b", (DEPLOY / "requirements.lock").read_text())
    assert "-r requirements.lock" in (DEPLOY / "Containerfile").read_text()


def test_kubernetes_asks_healthz():
    documents = {document["kind"]: document for document in reversed(read_yaml("kubernetes.yaml"))}
    deployment, service = documents["Deployment"], documents["Service"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["replicas"] > 1
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["ports"] == [{"name": "http", "containerPort": 8501}]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]


def test_the_image_takes_all_that_the_app_is_made_of_and_runs_as_nobody_special():
    lines = (DEPLOY / "Containerfile").read_text()
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text().split()
    folders = ("attention_core", "lessons", "runs", "classes", "attention_ui", "pages", "in_browser")
    for part in (".streamlit", *folders, "app.py"):
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
    source = "".join(file.read_text() for place in ("attention_ui", "models") for file in (ROOT / place).rglob("*.py"))
    assert set(re.findall(r"ATTENTION_LAB_\w+", guide)) == set(re.findall(r"ATTENTION_LAB_\w+", source))
