"""Java's exceptions as errors of ours: what a user has to know, and what happens next."""

from __future__ import annotations

from typing import Any, Final

from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.dialects.faults import Faults, SqlFault
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.errors import ConfigError, PenstockError

_MOST_CAUSES: Final = 10
_NULL_POINTER: Final = "java.lang.NullPointerException"
_NETWORK: Final = {
    "java.net.UnknownHostException": "no such host;",
    "java.net.ConnectException": "the connection was refused: is the database running there?",
    "java.net.NoRouteToHostException": "there is no route to this host;",
    "java.net.SocketTimeoutException": "it did not answer in time;",
}


def translated(
    error: Py4JJavaError, doing: str, settings: ConnectionSettings, faults: Faults
) -> PenstockError:
    """The error to raise for a Java exception, without secrets; `doing` is what failed."""
    thrown = error.java_exception
    sql_exception = _sql_exception(thrown)
    if sql_exception is None and str(thrown.getClass().getName()) == _NULL_POINTER:
        # The JVM's own message names variables of the driver.
        return ConfigError(
            f"{settings.place}: the driver can't work with these settings; check that"
            f" connection.url is complete, with host and database (in: {doing[:300]})"
        )
    words = str((sql_exception or thrown).getMessage() or thrown.toString())
    fault = SqlFault(words) if sql_exception is None else _fault(sql_exception, words)
    text = settings.hide(
        f"{settings.place}: {_network_fault(thrown)}{' '.join(words.split())}"
        f" (SQLSTATE {fault.state or 'unknown'}, in: {' '.join(doing.split())[:300]})"
    )
    return faults.error(fault, text)


def _fault(sql_exception: Any, words: str) -> SqlFault:
    return SqlFault(
        words,
        state=str(sql_exception.getSQLState() or ""),
        code=int(sql_exception.getErrorCode()),
        class_name=str(sql_exception.getClass().getSimpleName()),
    )


def _sql_exception(error: Any) -> Any:
    """The first java.sql.SQLException among an exception and its causes; None if there is none."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            return None
        if _has_method(error, "getSQLState"):
            return error
        error = error.getCause()
    return None


def _network_fault(error: Any) -> str:
    """The network's error, which drivers word differently or leave out; empty if none."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            return ""
        words = _NETWORK.get(str(error.getClass().getName()))
        if words is not None:
            return f"{words} "
        error = error.getCause()
    return ""


def _has_method(java_object: Any, name: str) -> bool:
    methods = java_object.getClass().getMethods()
    return any(method.getName() == name for method in methods)
