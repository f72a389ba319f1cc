"""The REST API over real HTTP, with a herder whose worker is scripted."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import httpx
import pytest

from penstock.testing.waiting import eventually, patient, soon
from tests.unit.worker.herder.harness import SOURCE, VAULT, Bench, running
from tests.unit.worker.rest.served import Served


def test_answers_on_a_kept_connection_come_at_once(api: Served) -> None:
    api.http.get("/connectors")
    begun = time.monotonic()
    for _ in range(20):
        api.http.get("/connectors")
    # Where the end of an answer waits for an acknowledgement, this takes 0.8 s.
    assert time.monotonic() - begun < patient(0.5)


def test_a_connector_over_http(api: Served) -> None:
    created = api.create(" c ")
    assert created.status_code == 201
    assert created.headers["location"] == str(api.http.base_url.join("/connectors/c"))
    assert created.headers["content-type"] == "application/json"
    assert created.json()["name"] == "c"
    api.bench.runs()
    assert api.http.get("/connectors").text == '["c"]'
    status = api.http.get("/connectors/c/status").json()
    assert status["tasks"] == [
        {"id": 0, "state": "RUNNING", "worker_id": "127.0.0.1:8083", "version": "4.1.1"}
    ]
    assert api.http.put("/connectors/c/pause").status_code == 202
    assert api.http.put("/connectors/c/stop").status_code == 204
    assert api.http.delete("/connectors/c").status_code == 204
    assert api.http.get("/connectors/c").json() == {
        "error_code": 404,
        "message": "Connector c not found",
    }


def test_numbers_and_booleans_in_a_config_become_the_text_they_were_sent_as(api: Served) -> None:
    body = json.dumps({"name": "c", "config": SOURCE})[:-2] + ', "a": 1.50, "b": true, "c": 1E3}}'
    answer = api.http.post(
        "/connectors", content=body, headers={"content-type": "application/json"}
    )
    config = answer.json()["config"]
    assert (config["a"], config["b"], config["c"]) == ("1.50", "true", "1E3")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/connectors//status", "Ambiguous URI empty segment"),
        ("/connectors/a%00", "Bad Request"),
        ("/connectors/a%", "Bad Request"),
        ("/connectors/%E9", "Bad UTF-8 encoding"),
        ("/connectors/%ED%A0%80/status", "Bad UTF-8 encoding"),
        ("/connector-plugins/%FF/config", "Bad UTF-8 encoding"),
        ("/admin/loggers/%C3", "Bad UTF-8 encoding"),
    ],
)
def test_paths_that_may_mean_two_things_are_refused(api: Served, path: str, words: str) -> None:
    answer = api.http.get(path)
    assert answer.json() == {"error_code": 400, "message": words}


@pytest.mark.parametrize(
    "name", ["two words", "ä?", "a;b", "50%", "#", "$&'()+", "a/b", "/", "a\\b", ".", "..", "../.."]
)
def test_names_survive_the_way_through_a_url(api: Served, name: str) -> None:
    created = api.create(name)
    assert created.status_code == 201
    found = created.headers["location"]
    assert httpx.get(found).json()["name"] == name
    api.bench.runs(name)
    assert httpx.get(f"{found}/status").json()["name"] == name
    assert httpx.delete(found).status_code == 204
    assert api.http.get("/connectors").json() == []


def test_parameters_in_a_path_segment_and_slashes_at_the_end_do_not_count(api: Served) -> None:
    api.create()
    assert api.http.get("/connectors/c;v=1/").json()["name"] == "c"


def test_head_answers_as_get_without_a_body(api: Served) -> None:
    api.create()
    head = api.http.head("/connectors")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "5", b"")
    assert api.http.head("/connectors/c/pause").status_code == 405


def test_options_tell_the_methods(api: Served) -> None:
    answer = api.http.options("/connectors/x/config")
    assert answer.headers["allow"] == "HEAD,GET,OPTIONS,PUT,PATCH"
    assert answer.text == "HEAD, GET, OPTIONS, PUT, PATCH"
    assert answer.headers["content-type"] == "text/plain"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/nope", {}, 404),
        ("PATCH", "/connectors", {}, 405),
        ("GET", "/connectors", {"accept": "text/html"}, 406),
        ("POST", "/connectors", {"content-type": "text/plain"}, 415),
        ("POST", "/connectors", {"content-type": "nonsense"}, 400),
    ],
)
def test_what_the_routing_refuses_has_the_common_body(
    api: Served, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = api.http.request(method, path, headers=headers, content=b"{}")
    assert answer.status_code == status
    assert answer.json()["error_code"] == status


def test_an_error_inside_is_a_500_with_its_text(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **named: object) -> None:
        raise ZeroDivisionError("oh no")

    monkeypatch.setattr(api.bench.herder, "connectors", broken)
    answer = api.http.get("/connectors")
    assert (answer.status_code, answer.json()["message"]) == (500, "oh no")


def test_health_is_answered_while_the_store_can_not_be_reached() -> None:
    bench = Bench()
    bench.configs.unreachable.set()
    with running(bench):
        served = Served(bench)
        answer = served.http.get("/health")
        assert answer.status_code == 503
        assert answer.json()["status"] == "starting"
        assert served.http.get("/").json()["kafka_cluster_id"] == "cluster-1"
        bench.configs.unreachable.clear()
        assert served.http.get("/connectors").json() == []
        assert served.http.get("/health").status_code == 200
        served.close()


def test_cors_and_extra_headers() -> None:
    with running() as bench:
        served = Served(
            bench,
            access_control_allow_origin="http://good.example",
            access_control_allow_methods="GET,PUT",
            response_http_headers_config='add X-A: 1; b, "set Cache-Control: no-cache, no-store", '
            "setDate Expires: 1000",
        )
        good = served.http.get("/connectors", headers={"origin": "http://good.example"})
        assert good.headers["access-control-allow-origin"] == "http://good.example"
        assert good.headers["vary"] == "Origin"
        assert good.headers["x-a"] == "1; b"
        assert good.headers["cache-control"] == "no-cache, no-store"
        assert good.headers["expires"].endswith("GMT")
        bad = served.http.get("/connectors", headers={"origin": "http://bad.example"})
        assert "access-control-allow-origin" not in bad.headers
        asked = {"origin": "http://good.example", "access-control-request-method": "PUT"}
        before = served.http.options("/connectors", headers=asked)
        assert before.headers["access-control-allow-methods"] == "GET,PUT"
        assert before.headers["access-control-max-age"] == "60"
        served.close()


def test_admin_requests_have_listeners_of_their_own() -> None:
    with running() as bench:
        served = Served(bench, admin_listeners="http://127.0.0.1:0")
        assert served.http.get("/admin/loggers").status_code == 404
        assert served.listeners.admin is not None
        port = served.listeners.admin[0].port
        assert "root" in httpx.get(f"http://127.0.0.1:{port}/admin/loggers").json()
        assert httpx.get(f"http://127.0.0.1:{port}/connectors").status_code == 404
        served.close()


def test_admin_requests_can_be_switched_off() -> None:
    with running() as bench:
        served = Served(bench, admin_listeners="")
        assert served.http.get("/admin/loggers").status_code == 404
        assert served.listeners.admin == []
        served.close()


def test_a_level_is_taken_back_over_http(api: Served) -> None:
    path = "/admin/loggers/penstock.test.rest"
    assert api.http.put(path, json={"level": "DEBUG"}).json() == ["penstock.test.rest"]
    assert api.http.delete(path).json() == ["penstock.test.rest"]
    assert api.http.delete("/admin/loggers/nope").status_code == 404


def test_openapi_has_every_operation(api: Served) -> None:
    document = api.http.get("/openapi.json").json()
    operations = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert len(operations) == 35
    restart = operations["post", "/connectors/{connector}/restart"]
    assert [item["name"] for item in restart["parameters"]] == [
        "connector",
        "includeTasks",
        "onlyFailed",
    ]
    assert list(restart["responses"]) == ["202", "204", "default"]
    level = operations["put", "/admin/loggers/{logger}"]["responses"]
    assert "content" not in level["204"]  # with scope=cluster
    listed = operations["get", "/connectors"]["responses"]["200"]["content"]["application/json"]
    assert [each["type"] for each in listed["schema"]["anyOf"]] == ["array", "object"]
    assert "requestBody" in operations["put", "/connectors/{connector}/config"]
    assert all(operation["description"] for operation in operations.values())


def test_a_thousand_connectors_are_shown_in_a_second(api: Served) -> None:
    for number in range(1000):
        name = f"c{number}"
        api.bench.configs.put_connector(name, {**SOURCE, "name": name}, soon())
    eventually(lambda: len(api.bench.worker.running_tasks()) == 1000)
    api.bench.herder.health(soon())
    # The work it takes, in CPU time of this process: a busy machine does not change it.
    start = time.process_time()
    answer = api.http.get("/connectors?expand=status&expand=info")
    seconds = time.process_time() - start
    found = answer.json()
    assert len(found) == 1000
    assert found["c999"]["status"]["tasks"][0]["state"] == "RUNNING"
    assert found["c999"]["info"]["type"] == "source"
    assert seconds < 1.0
    address = str(api.http.base_url).removeprefix("http://").rstrip("/")

    def ask_twice(_: int) -> bool:
        connection = HTTPConnection(address, timeout=patient())
        found = []
        for _ in range(2):
            connection.request("GET", "/connectors?expand=status&expand=info")
            found.append(connection.getresponse().read())
        connection.close()
        return found == [answer.content] * 2

    start = time.process_time()
    with ThreadPoolExecutor(50) as clients:
        assert all(clients.map(ask_twice, range(50)))
    # A hundred a second at least, with what these clients cost.
    assert time.process_time() - start < 1.0


# ------------------------------------------------------------------------------- secrets in clear

TOKEN = "a token of the worker"
PLAIN = {
    "name": "v",
    "connector.class": VAULT.name,
    "url": "jdbc:x://me:hunter2@db",
    "connection.password": "hunter2",
    "undeclared.secret": "hunter2",
}


def configs_told(api: Served, headers: dict[str, str]) -> list[dict[str, str]]:
    """What every request answers that answers a config."""
    http = api.http
    created = http.post("/connectors", json={"name": "v", "config": PLAIN}, headers=headers)
    eventually(lambda: http.get("/connectors/v/tasks").json())
    expanded = http.get("/connectors?expand=info", headers=headers).json()
    return [
        created.json()["config"],
        http.put("/connectors/v/config", json=PLAIN, headers=headers).json()["config"],
        http.patch("/connectors/v/config", json={}, headers=headers).json()["config"],
        http.get("/connectors/v", headers=headers).json()["config"],
        http.get("/connectors/v/config", headers=headers).json(),
        expanded["v"]["info"]["config"],
        {**http.get("/connectors/v/tasks", headers=headers).json()[0]["config"], "name": "v"},
        {
            **http.post("/penstock/connectors/v/copy", json={"name": "w"}, headers=headers).json()[
                "config"
            ],
            "name": "v",
        },
    ]


@pytest.mark.parametrize(
    ("shown", "sent", "clear"),
    [
        ("never", None, False),
        ("never", TOKEN, False),
        ("with-token", None, False),
        ("with-token", TOKEN, True),
        ("always", None, True),
    ],
)
def test_who_gets_secrets_in_clear(shown: str, sent: str | None, clear: bool) -> None:
    """Clients that read a config until it is what they wrote never end where it is hidden."""
    headers = {} if sent is None else {"penstock-secrets-token": sent}
    with running() as bench:
        api = Served(bench, penstock_secrets_shown=shown, penstock_secrets_token=TOKEN)
        told = configs_told(api, headers)
        api.close()
    hidden = {
        **PLAIN,
        "url": "jdbc:x://me:[hidden]@db",
        "connection.password": "[hidden]",
        "undeclared.secret": "[hidden]",
    }
    wanted = PLAIN if clear else hidden
    assert [{key: each.get(key) for key in PLAIN} for each in told] == [wanted] * len(told)


def test_another_token_is_refused() -> None:
    with running() as bench:
        api = Served(bench, penstock_secrets_shown="with-token", penstock_secrets_token=TOKEN)
        answer = api.http.get("/connectors?expand=info", headers={"penstock-secrets-token": "x"})
        api.close()
    assert answer.status_code == 403
    assert answer.json()["message"] == (
        "Penstock-Secrets-Token is not the worker's penstock.secrets.token"
    )


def test_a_copy_has_the_secrets_of_the_original(api: Served) -> None:
    api.http.post("/connectors", json={"name": "v", "config": {**PLAIN, "topic": "t"}})

    def copy(name: str | None, **config: str | None) -> httpx.Response:
        body = {"name": name, "config": config, "initial_state": "PAUSED"}
        return api.http.post("/penstock/connectors/v/copy", json=body)

    answer = copy("w", tasks="2", topic=None)
    assert answer.status_code == 201
    assert answer.headers["location"].endswith("/connectors/w")
    stored = api.bench.configs.connectors["w"]
    assert stored.config == {**PLAIN, "name": "w", "tasks": "2"}
    assert stored.target == "PAUSED"

    assert copy("w").status_code == 409
    assert copy(None).status_code == 400
    moved = copy("x", url="jdbc:x://mine")
    assert moved.status_code == 400
    assert "connection.password: it hides a stored value, which can't be reused" in moved.text
    assert api.http.post("/penstock/connectors/nobody/copy", json={"name": "y"}).json() == {
        "error_code": 404,
        "message": "Connector nobody not found",
    }
    assert api.http.get("/connectors").json() == ["v", "w"]
