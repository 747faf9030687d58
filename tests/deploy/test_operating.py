"""What an operator expects of Kubernetes, compose and the proxy, as rules that each of their parts keeps."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from replicas import HAPROXY, ROOT, Answer, Proxy, wait_for

DEPLOY = ROOT / "deploy"
DOCUMENTS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
OTHERS = "traefik.io/"  # kinds that Kubernetes itself does not know
NAMED = {(document["kind"], document["metadata"]["name"]): document for document in DOCUMENTS}
PODS = {
    name: document["spec"]["template"]
    for (_, name), document in NAMED.items()
    if "template" in document.get("spec", {})
}
CONTAINERS = [
    pytest.param(container, pod, id=f"{name}-{container['name']}")
    for name, pod in PODS.items()
    for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ()))
]


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda document: f"{document['kind']}-{document['metadata']['name']}"
)
def test_kubernetes_knows_every_field(document):
    validate = pytest.importorskip("kubernetes_validate")
    if not document["apiVersion"].startswith(OTHERS):
        validate.validate(document, "1.32", strict=True)
    assert document["kind"] == "Namespace" or document["metadata"]["namespace"] == "attention-lab"


@pytest.mark.parametrize(("container", "pod"), CONTAINERS)
def test_each_container_has_what_it_needs_and_may_do_nothing_else(container, pod):
    assert {"requests", "limits"} <= container["resources"].keys() and "memory" in container["resources"]["limits"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    spec = pod["spec"]
    assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert ":" in container["image"] and not container["image"].endswith(":latest")
    volumes = {volume["name"] for volume in spec["volumes"]} | {"votes"}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    if container in spec["containers"]:
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()


def test_replicas_lie_apart_and_end_one_after_the_other():
    app, budget = NAMED["Deployment", "attention-lab"]["spec"], NAMED["PodDisruptionBudget", "attention-lab"]["spec"]
    assert budget["selector"] == app["selector"] and budget["maxUnavailable"] < app["replicas"]
    pod = app["template"]["spec"]
    [spread] = pod["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname" and spread["labelSelector"] == app["selector"]
    waits = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 5 <= waits <= pod["terminationGracePeriodSeconds"] - 20


def test_nobody_is_reached_but_by_whom_a_policy_names():
    policies = {name: document["spec"] for (kind, name), document in NAMED.items() if kind == "NetworkPolicy"}
    everybody = policies.pop("nothing-else")
    assert everybody == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert set(policies) == set(PODS)
    for name, policy in policies.items():
        assert policy["podSelector"]["matchLabels"] == PODS[name]["metadata"]["labels"]
    [allowed] = policies["attention-lab-votes"]["ingress"]
    assert allowed["from"] == [{"podSelector": {"matchLabels": {"app": "attention-lab"}}}]


def test_the_way_in_is_maintained_keeps_a_visitor_and_limits_strangers():
    ingress, service = NAMED["Ingress", "attention-lab"], NAMED["Service", "attention-lab"]
    assert ingress["spec"]["ingressClassName"] == "traefik" and ingress["spec"]["tls"]
    cookie = {name.rpartition("sticky.cookie")[2]: value for name, value in service["metadata"]["annotations"].items()}
    assert cookie == {"": "true", ".name": "replica", ".httponly": "true", ".secure": "true", ".samesite": "lax"}
    used = ingress["metadata"]["annotations"]["traefik.ingress.kubernetes.io/router.middlewares"].split(",")
    there = {f"attention-lab-{name}@kubernetescrd" for kind, name in NAMED if kind == "Middleware"}
    assert set(used) == there
    assert NAMED["Middleware", "rate"]["spec"]["rateLimit"]["burst"] >= 40 * 100, "a class opens its first page"


def test_the_database_outlives_its_pod():
    votes = NAMED["StatefulSet", "attention-lab-votes"]["spec"]
    [claim] = votes["volumeClaimTemplates"]
    [container] = votes["template"]["spec"]["containers"]
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    data = {variable["name"]: variable.get("value") for variable in container["env"]}["PGDATA"]
    assert data.startswith(mounted[claim["metadata"]["name"]])


@pytest.mark.parametrize("name", COMPOSE)
def test_each_service_is_limited_confined_and_looked_after(name):
    service = COMPOSE[name]
    assert {"cpus", "memory"} <= service["deploy"]["resources"]["limits"].keys()
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    if name == "app":
        assert "HEALTHCHECK" in (DEPLOY / "Containerfile").read_text()
    elif name != "models":
        assert service["healthcheck"]["test"][0] == "CMD" and service["restart"] == "unless-stopped"


class Behind(BaseHTTPRequestHandler):
    """Answers that it is well, with a cookie."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Set-Cookie", "name=value; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def proxy(tmp_path):
    if HAPROXY is None:
        pytest.skip("no HAProxy here: install it (Debian: apt install haproxy)")
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Behind)
    threading.Thread(target=behind.serve_forever, args=(0.02,), daemon=True).start()
    started = Proxy(tmp_path, behind.server_address[1])
    wait_for(lambda: Answer(started.url).status == 200)
    yield started
    started.stop()
    behind.shutdown()


def test_behind_tls_browsers_stay_with_it_and_cookies_too(proxy):
    plain, over_tls = Answer(proxy.url), Answer(proxy.url, X_Forwarded_Proto="https")
    assert "Strict-Transport-Security" not in plain.headers
    assert not any("Secure" in cookie for cookie in plain.headers.get_all("Set-Cookie"))
    assert over_tls.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert over_tls.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    cookies = over_tls.headers.get_all("Set-Cookie")
    assert len(cookies) == 2 and all(cookie.endswith("; Secure") for cookie in cookies), "the replica's and the app's"


def test_a_stranger_who_asks_without_end_is_refused(tmp_path, monkeypatch, proxy):
    text = (DEPLOY / "haproxy.cfg").read_text()
    assert text.count("sc_http_req_rate(0) gt 10000") == 1
    file = tmp_path / "haproxy.cfg"
    limited = file.read_text().replace("gt 10000", "gt 20")
    assert limited != file.read_text()
    monkeypatch.setattr("replicas.local_configuration", lambda port, *_: limited.replace(str(proxy.port), str(port)))
    (tmp_path / "limited").mkdir()
    strict = Proxy(tmp_path / "limited")
    try:
        wait_for(lambda: Answer(strict.url).status == 200)
        assert {Answer(strict.url).status for _ in range(30)} == {200, 429}
    finally:
        strict.stop()
