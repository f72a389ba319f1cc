"""Real database servers for tests: MariaDB and PostgreSQL as child processes.

The programs come from the Debian packages mariadb-server-core, mariadb-client-core and
postgresql-15, or from anywhere else on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from penstock.kernel.errors import SetupError
from penstock.machine.free_ports import free_port
from penstock.machine.process import Child, Server
from penstock.testing.waiting import patient

_START_SECONDS: Final = 60.0
_COMMAND_SECONDS: Final = 120.0
_PLACES: Final = ("/usr/sbin", "/usr/local/sbin", "/usr/local/bin")


class DatabaseServer(Server):
    """One server process with its data in `directory`; a new start has the same data and port."""

    user: ClassVar[str]

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()

    @abstractmethod
    def url(self, database: str) -> str:
        """The JDBC URL of one of its databases."""

    @abstractmethod
    def sql(self, database: str, text: str) -> str:
        """Run statements with the server's own client; return its output, fields between tabs.

        Raises:
            SetupError: a statement failed; the text has the client's message.
        """

    @abstractmethod
    def create_database(self, name: str) -> None:
        """Create a database; drop an existing one first."""

    @abstractmethod
    def prepare(self) -> None:
        """Create the data directory."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command line of the server."""

    def answers(self) -> bool:
        """Whether a client can connect."""
        try:
            self.sql("", "SELECT 1")
        except SetupError:
            return False
        return True

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        if not (self.directory / "data").exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            self.prepare()
        server = Child(type(self).__name__, self.command(), log=self.directory / "server.log")
        self.launch(server, self.answers, patient(_START_SECONDS), "it answered")


@dataclass(frozen=True, slots=True)
class FreshDatabase:
    """One database of a server, made for one test."""

    server: DatabaseServer
    name: str

    @property
    def url(self) -> str:
        """Its JDBC URL."""
        return self.server.url(self.name)

    @property
    def config(self) -> dict[str, str]:
        """What a connector needs to reach it."""
        return {"connection.url": self.url, "connection.user": self.server.user}

    def sql(self, text: str) -> str:
        """Run statements; return a line for each row, fields between tabs."""
        return self.server.sql(self.name, text)

    def rows(self, text: str) -> list[tuple[str, ...]]:
        """The rows of a query, as the texts that the server's client writes."""
        return [tuple(line.split("\t")) for line in self.sql(text).splitlines()]


class MariaDb(DatabaseServer):
    """MariaDB; the user `root` has no password."""

    user = "root"

    def url(self, database: str) -> str:
        """For MariaDB's own driver; mysql_url() is for MySQL's."""
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{database}"

    def mysql_url(self, database: str) -> str:
        """For MySQL's driver."""
        return f"jdbc:mysql://127.0.0.1:{self.port}/{database}"

    def sql(self, database: str, text: str) -> str:
        """Run statements with the client `mariadb`."""
        client = [_program("mariadb", "mariadb-client-core"), "--no-defaults", "--batch"]
        client += ["--skip-column-names", "--default-character-set=utf8mb4"]
        client += ["--host=127.0.0.1", f"--port={self.port}", f"--user={self.user}"]
        return _run([*client, *([database] if database else [])], text)

    def create_database(self, name: str) -> None:
        """Make a database in UTF-8."""
        self.sql("", f"DROP DATABASE IF EXISTS `{name}`")
        self.sql("", f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")

    def prepare(self) -> None:
        """Make the system tables."""
        _run(
            [
                *(_program("mariadb-install-db", "mariadb-server-core"), "--no-defaults"),
                *_as_root_if_so(),
                f"--datadir={self.directory / 'data'}",
                *("--auth-root-authentication-method=normal", "--skip-test-db"),
            ]
        )

    def command(self) -> list[str]:
        """Settings for little memory and speed, not safety: the data is for tests only."""
        data = self.directory / "data"
        return [
            *(_program("mariadbd", "mariadb-server-core"), "--no-defaults", *_as_root_if_so()),
            *(f"--datadir={data}", f"--socket={data / 's.sock'}", f"--pid-file={data / 'pid'}"),
            *(f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve"),
            # Not a shared one: a server that starts removes the temporary files of others.
            f"--tmpdir={self.directory}",
            *("--innodb-buffer-pool-size=64M", "--performance-schema=OFF"),
            *("--innodb-flush-log-at-trx-commit=2", "--local-infile=ON", "--max-connections=300"),
        ]


class PostgreSql(DatabaseServer):
    """PostgreSQL; it accepts connections from this machine without a password."""

    user = "postgres"

    def url(self, database: str) -> str:
        """For PostgreSQL's own driver."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{database}"

    def sql(self, database: str, text: str) -> str:
        """Run statements with the client `psql`."""
        client = [_postgres_program("psql"), "-X", "-q", "-A", "-t", "-F", "\t"]
        client += ["-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        return _run([*client, "-U", self.user, "-d", database or "postgres"], text)

    def create_database(self, name: str) -> None:
        """Make a database in UTF-8."""
        self.sql("", f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self.sql("", f'CREATE DATABASE "{name}"')

    def prepare(self) -> None:
        """Make the system tables; PostgreSQL refuses to run as root, so its own user does it."""
        _open_path(self.directory)
        if os.geteuid() == 0:
            shutil.chown(self.directory, "postgres", "postgres")
        _run(
            [
                *(*_as_postgres(), _postgres_program("initdb"), "-D", str(self.directory / "data")),
                *("-U", self.user, "-A", "trust", "--no-sync", "-E", "UTF8"),
                "--locale=C.UTF-8",
            ]
        )

    def command(self) -> list[str]:
        """Small and quick rather than safe: the data lives as long as the tests."""
        # Each run of pytest that starts meanwhile closes the folders above again.
        _open_path(self.directory)
        data = self.directory / "data"
        return [
            *(*_as_postgres(), _postgres_program("postgres"), "-D", str(data)),
            *("-p", str(self.port), "-h", "127.0.0.1", "-k", str(data)),
            *("-c", "fsync=off", "-c", "shared_buffers=64MB", "-c", "max_connections=300"),
        ]


def _program(name: str, package: str, places: Sequence[str] = _PLACES) -> str:
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        raise SetupError(f"{name} is not installed; on Debian: apt-get install {package}")
    return found


def _postgres_program(name: str) -> str:
    newest_first = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return _program(name, "postgresql-15", [*map(str, newest_first), *_PLACES])


def _as_root_if_so() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def _as_postgres() -> list[str]:
    if os.geteuid() != 0:
        return []
    # A change of user clears the parent-death signal, so it is set again.
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig=KILL"]


def _open_path(directory: Path) -> None:
    """Let PostgreSQL's user pass through the folders above, which pytest closes for others."""
    if os.geteuid() != 0:
        return
    for folder in directory.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path(folder.anchor):
            folder.chmod(folder.stat().st_mode | 0o011)


def _run(command: Sequence[str], stdin: str = "") -> str:
    result = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=patient(_COMMAND_SECONDS),
        check=False,
    )
    if result.returncode != 0:
        words = (result.stderr or result.stdout).strip()[-2000:]
        raise SetupError(f"{Path(command[0]).name} failed: {words}")
    return result.stdout
