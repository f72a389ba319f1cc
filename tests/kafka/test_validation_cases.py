"""The committed cases are what the real Kafka Connect answers."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from penstock.testing.oracle import ConnectMode, JavaConnect
from penstock.testing.waiting import patient
from tests.validation_cases import WORKERS, Json, expected, undocumented


@pytest.mark.parametrize("worker", WORKERS)
def test_the_real_connect_answers_so(worker: str, kafka: str, tmp_path: Path) -> None:
    properties = {**WORKERS[worker]["properties"], "bootstrap.servers": kafka}
    mode = ConnectMode.DISTRIBUTED
    if worker == "standalone":
        mode = ConnectMode.STANDALONE
        properties["offset.storage.file.filename"] = str(tmp_path / "offsets")
    with JavaConnect(tmp_path, properties, mode=mode) as connect:
        for case in WORKERS[worker]["cases"]:
            check(connect.url, worker, case)


def check(url: str, worker: str, case: Json) -> None:
    answer = httpx.put(
        f"{url}/connector-plugins/{case['plugin']}/config/validate",
        json=case["config"],
        timeout=patient(),
    )
    if "message" in case:
        assert case["message"] in answer.json()["message"]
    else:
        assert undocumented(answer.json()) == expected(worker, case), case["config"]
