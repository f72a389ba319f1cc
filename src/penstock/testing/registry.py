"""A real Schema Registry for tests: Apicurio as a child process, with Confluent's REST API."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx

from penstock.kernel.errors import SetupError
from penstock.machine.cache import locked
from penstock.machine.free_ports import free_port
from penstock.machine.jars import classpath
from penstock.machine.java_home import find_java
from penstock.machine.process import Child, Server
from penstock.testing.waiting import patient

_START_SECONDS: Final = 90.0
_UNPACK_SECONDS: Final = 120.0
_ASK_SECONDS: Final = 30.0


class SchemaRegistry(Server):
    """One registry process, its schemas in memory and its log in `directory`.

    New versions of a subject must be compatible with the last one, as with Confluent's registry.
    It may be started again after a stop or kill: same port, no schemas.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()

    @property
    def url(self) -> str:
        """The value for `schema.registry.url`."""
        return f"http://127.0.0.1:{self.port}/apis/ccompat/v7"

    def start(self) -> None:
        """Start the registry; it answers when this returns."""
        self.directory.mkdir(parents=True, exist_ok=True)
        command = [
            *(str(find_java().java), "-Xmx384m", "-XX:TieredStopAtLevel=1"),
            *("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self.port}"),
            *("-Dquarkus.http.access-log.enabled=false", "-jar", str(_program())),
        ]
        registry = Child("Schema Registry", command, log=self.directory / "registry.log")
        self.launch(registry, self._answers, patient(_START_SECONDS), "it answered")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of its answer to a request.

        Raises:
            SetupError: the answer is an error.
        """
        address, limit = f"{self.url}/{path}", patient(_ASK_SECONDS)
        answer = httpx.request(method, address, json=body, timeout=limit, verify=False)  # noqa: S501
        if not answer.is_success:
            raise SetupError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def register(self, subject: str, schema: str, kind: str = "AVRO", **more: Any) -> int:
        """Register a schema; return its id."""
        body = {"schema": schema, "schemaType": kind, **more}
        return int(self.ask("POST", f"subjects/{subject}/versions", body)["id"])

    def subjects(self) -> list[str]:
        """All subjects."""
        return list(self.ask("GET", "subjects"))

    def latest(self, subject: str) -> dict[str, Any]:
        """The latest version of a subject."""
        return dict(self.ask("GET", f"subjects/{subject}/versions/latest"))

    def _answers(self) -> bool:
        try:
            self.ask("PUT", "config", {"compatibility": "BACKWARD"})
        except (httpx.HTTPError, SetupError):
            return False
        return True


def _program() -> Path:
    """The runnable jar, fetched and unpacked if the cache does not have it."""
    (archive,) = classpath("registry")
    home = archive.parent / "unpacked"
    with locked(archive.parent / "unpack.lock", patient(_UNPACK_SECONDS)):
        if not home.exists():
            # It appears under its final name only when it is complete.
            scratch = Path(tempfile.mkdtemp(dir=archive.parent, prefix="unpack-"))
            with tarfile.open(archive) as tar:
                # Keeps an archive from writing elsewhere; since Python 3.11.4.
                tar.extraction_filter = getattr(tarfile, "data_filter", None)
                tar.extractall(scratch)  # noqa: S202 - see above
            scratch.rename(home)
    found = sorted(home.rglob("*-runner.jar"))
    if not found:
        raise SetupError(f"{archive} has no *-runner.jar")
    return found[0]
