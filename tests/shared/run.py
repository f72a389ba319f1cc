"""The processes of a test run: one owns the shared servers, xdist's others ask it for them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from penstock.machine.process import Server
from tests.shared.costs import LevelCosts, ProcessWatch, level_of, summary
from tests.shared.servers import Desk, SharedServers, ask

#: What a run costs is told of one that takes longer.
_TOLD_SECONDS: Final = 30.0


class Helper:
    """A test process of xdist: it asks the owner for servers, and tells it what it used."""

    def __init__(self, config: pytest.Config) -> None:
        self._input: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
        self._output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
        self._costs = LevelCosts()

    def server(self, name: str) -> Server:
        return ask(self._input["servers"], name)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without groups every process would start servers of its own, and none would say so."""
        grouped = [each for each in session.items if each.get_closest_marker("xdist_group")]
        if session.config.option.loadgroup and any("@" not in each.nodeid for each in grouped):
            raise pytest.UsageError("xdist lost the groups of tests: does it know this pytest?")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._costs.enter(level_of(nodeid))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._costs.charge()
        self._output["levels"] = dict(self._costs.seconds)


class Owner:
    """The only process, or the one of xdist that runs no tests: it starts and stops servers."""

    def __init__(self, config: pytest.Config) -> None:
        self._directory = _directory()
        self._is_alone = config.getoption("dist", "no") == "no"
        self._servers = SharedServers(self._directory)
        self._desk = None if self._is_alone else Desk(self._servers)
        self._watch = ProcessWatch()
        self._costs = LevelCosts(lambda: sum(self._servers.cpu_seconds().values()))
        self._begun = time.monotonic()
        self._tests: defaultdict[str, float] = defaultdict(float)
        self._server_seconds: dict[str, float] = {}
        self._proved: defaultdict[str, float] = defaultdict(float)

    def server(self, name: str) -> Server:
        return self._servers.get(name)

    def pytest_sessionstart(self) -> None:
        self._watch.start()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        assert self._desk is not None
        node.workerinput["servers"] = self._desk.address

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        for level, seconds in getattr(node, "workeroutput", {}).get("levels", {}).items():
            self._costs.seconds[level] += seconds

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._is_alone:
            self._costs.enter(level_of(nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests[report.nodeid.partition("@")[0]] += report.duration
        for name, text in report.user_properties:
            if name == "proves" and report.when == "call" and report.passed:
                self._proved[str(text)] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._watch.stop()
        self._server_seconds = self._servers.cpu_seconds()
        if self._is_alone:
            self._costs.charge()
        self._servers.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._proved:
            terminalreporter.section("proved")
        for text, seconds in self._proved.items():
            terminalreporter.write_line(f"{seconds:7.1f} s  {text}")
        if time.monotonic() - self._begun < _TOLD_SECONDS:
            return
        terminalreporter.section("costs")
        for line in summary(
            self._watch.counts, self._costs.seconds, self._server_seconds, self._tests
        ):
            terminalreporter.write_line(line)


def _directory() -> Path:
    """Not among pytest's: each new run closes those to other users, and PostgreSQL runs as one."""
    return Path(tempfile.mkdtemp(prefix="penstock-tests-"))
