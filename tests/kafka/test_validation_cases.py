"""The committed cases are what the real Kafka Connect answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from penstock.testing.oracle import ConnectMode, JavaConnect
from penstock.testing.waiting import patient
from tests.validation_cases import WORKERS, Json, expected, undocumented


def test_a_distributed_worker_answers_so(oracle_connect: JavaConnect) -> None:
    check(oracle_connect, "distributed")


def test_one_that_lets_connectors_change_their_logins_only(kafka: str, tmp_path: Path) -> None:
    properties = {**WORKERS["principal"]["properties"], "bootstrap.servers": kafka}
    with JavaConnect(tmp_path, properties) as connect:
        check(connect, "principal")


def test_one_that_runs_alone_with_a_connector_file(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    (tmp_path / "in.txt").write_text("hello\n")
    connector = tmp_path / "source.properties"
    connector.write_text(
        f"name=file-source\nconnector.class=FileStreamSource\nfile={tmp_path}/in.txt\n"
        f"topic={unique('lines')}\n"
    )
    properties = {
        **WORKERS["standalone"]["properties"],
        "bootstrap.servers": kafka,
        "offset.storage.file.filename": str(tmp_path / "offsets"),
    }
    with JavaConnect(
        tmp_path / "worker", properties, mode=ConnectMode.STANDALONE, connectors=[connector]
    ) as connect:
        listed = httpx.get(f"{connect.url}/connectors", timeout=patient())
        assert listed.json() == ["file-source"]
        check(connect, "standalone")


def check(connect: JavaConnect, worker: str) -> None:
    with httpx.Client(base_url=connect.url, timeout=patient()) as client:
        for case in WORKERS[worker]["cases"]:
            check_case(client, worker, case)


def check_case(client: httpx.Client, worker: str, case: Json) -> None:
    answer = client.put(f"/connector-plugins/{case['plugin']}/config/validate", json=case["config"])
    if "message" in case:
        assert case["message"] in answer.json()["message"]
    else:
        assert undocumented(answer.json()) == expected(worker, case), case["config"]
