"""A client of the REST API for tests, for the real Connect and for Penstock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx

from penstock.testing.waiting import WAIT_SECONDS, eventually, patient

Value = TypeVar("Value")

_ANSWER_SECONDS = 100.0


class ConnectRest:
    """One method for each operation. Unexpected answers fail the test.

    `own` is a part of the names of this test's connectors, on a worker shared with other tests.
    """

    def __init__(self, url: str, own: str = "") -> None:
        self.url = url
        self._own = own
        # http needs no certificates, and loading them takes time.
        self._http = httpx.Client(base_url=url, timeout=patient(_ANSWER_SECONDS), verify=False)  # noqa: S501

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """The answer, whatever its status."""
        return self._http.request(method, path, json=body)

    def expect(self, status: int, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON, which must have this status."""
        answer = self.request(method, path, body)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"  # noqa: S101
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:
        """The JSON of a successful GET."""
        return self.expect(httpx.codes.OK, "GET", path)

    def connectors(self) -> list[str]:
        """The names of this test's connectors, sorted."""
        return sorted(name for name in self.get("/connectors") if self._own in name)

    def create(self, name: str, config: Mapping[str, str], state: str | None = None) -> Any:
        """POST a new connector."""
        body = {"name": name, "config": dict(config)}
        body |= {} if state is None else {"initial_state": state}
        return self.expect(httpx.codes.CREATED, "POST", "/connectors", body)

    def create_running(self, name: str, config: Mapping[str, str], *, tasks: int = 1) -> None:
        """POST a new connector and wait until it runs."""
        self.create(name, config)
        self.await_running(name, tasks)

    def configure(self, name: str, config: Mapping[str, str]) -> Any:
        """PUT a connector's config."""
        answer = self.request("PUT", f"/connectors/{name}/config", dict(config))
        assert answer.is_success, answer.text  # noqa: S101
        return answer.json()

    def delete(self, name: str) -> None:
        """DELETE a connector."""
        self.expect(httpx.codes.NO_CONTENT, "DELETE", f"/connectors/{name}")

    def status(self, name: str) -> Any:
        """The status; an empty one if there is none yet."""
        answer = self.request("GET", f"/connectors/{name}/status")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return {"connector": {"state": None}, "tasks": []}
        assert answer.is_success, answer.text  # noqa: S101
        return answer.json()

    def states(self, name: str) -> list[str]:
        """The state of the connector, then those of its tasks."""
        status = self.status(name)
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def eventually(
        self,
        ask: Callable[[], Value],
        until: Callable[[Value], bool] = bool,
        seconds: float = WAIT_SECONDS,
    ) -> Value:
        """The first answer that satisfies `until`; raises early if a task failed."""

        def enough(answer: Value) -> bool:
            return until(answer) or bool(self.failures())

        answer = eventually(ask, enough, seconds=seconds)
        if not until(answer):
            raise AssertionError(f"tasks failed: {self.failures()}; the last answer: {answer!r}")
        return answer

    def failures(self) -> dict[str, str]:
        """The traces of tasks that failed, of this test's connectors named without "fails"."""
        statuses = self.get("/connectors?expand=status")
        return {
            f"{name}-{task['id']}": task.get("trace", "")
            for name, entry in statuses.items()
            for task in entry["status"]["tasks"]
            if task["state"] == "FAILED" and self._own in name and "fails" not in name
        }

    def await_states(
        self, name: str, states: Sequence[str], seconds: float = WAIT_SECONDS
    ) -> list[str]:
        """Wait until the connector and its tasks have these states."""
        return eventually(
            lambda: self.states(name), lambda now: now == list(states), seconds=seconds
        )

    def await_running(self, name: str, tasks: int = 1, seconds: float = WAIT_SECONDS) -> None:
        """Wait until the connector and that many tasks run."""
        self.await_states(name, ["RUNNING"] * (tasks + 1), seconds)

    def await_trace(self, name: str, seconds: float = WAIT_SECONDS) -> str:
        """Wait until a task failed; return its trace."""
        tasks = eventually(
            lambda: self.status(name)["tasks"],
            lambda now: any(task["state"] == "FAILED" for task in now),
            seconds=seconds,
        )
        trace: str = next(task["trace"] for task in tasks if task["state"] == "FAILED")
        return trace

    def pause(self, name: str, tasks: int = 1) -> None:
        """Pause and wait until it is paused."""
        self.expect(httpx.codes.ACCEPTED, "PUT", f"/connectors/{name}/pause")
        self.await_states(name, ["PAUSED"] * (tasks + 1))

    def resume(self, name: str, tasks: int = 1) -> None:
        """Resume and wait until it runs."""
        self.expect(httpx.codes.ACCEPTED, "PUT", f"/connectors/{name}/resume")
        self.await_running(name, tasks)

    def stop(self, name: str) -> None:
        """Stop and wait until no task is left."""
        self.expect(httpx.codes.NO_CONTENT, "PUT", f"/connectors/{name}/stop")
        self.await_states(name, ["STOPPED"])

    def restart(self, name: str, options: str = "") -> httpx.Response:
        """POST a restart, with a query such as `includeTasks=true`."""
        return self.request("POST", f"/connectors/{name}/restart?{options}")

    def restart_task(self, name: str, task: int = 0) -> None:
        """POST a restart of one task."""
        path = f"/connectors/{name}/tasks/{task}/restart"
        self.expect(httpx.codes.NO_CONTENT, "POST", path)

    def topics(self, name: str) -> list[str]:
        """The topics the connector has used."""
        return sorted(self.get(f"/connectors/{name}/topics")[name]["topics"])

    def offsets(self, name: str) -> list[Any]:
        """The connector's offsets as the API shows them."""
        found: list[Any] = self.get(f"/connectors/{name}/offsets")["offsets"]
        return found

    def await_offsets(
        self, name: str, until: Callable[[list[Any]], bool], seconds: float = WAIT_SECONDS
    ) -> list[Any]:
        """Wait until the offsets satisfy `until`."""
        return eventually(lambda: self.offsets(name), until, seconds=seconds)

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """PATCH the offsets; return the answer's message."""
        body = {"offsets": list(offsets)}
        path = f"/connectors/{name}/offsets"
        message: str = self.expect(httpx.codes.OK, "PATCH", path, body)["message"]
        return message

    def reset_offsets(self, name: str) -> str:
        """DELETE the offsets; return the answer's message."""
        path = f"/connectors/{name}/offsets"
        message: str = self.expect(httpx.codes.OK, "DELETE", path)["message"]
        return message

    def close(self) -> None:
        """Close the connection."""
        self._http.close()
