"""Errors, grouped by what is done about them. A test keeps this tree complete.

The classes are here unless the tree names the one room that knows them. What is raised beside it
(in Python's own classes) is a mistake, or never leaves its room.

PenstockError
  ConfigError                rejected before anything runs; one message per key    -> REST 400
    ProblemsError            in files of connectors, with the places               (tools/manager)
  BadRequestError            the request itself is wrong                           -> REST 400
    NotSupportedError        the server is too old to stop connectors              (tools/offsets)
  MalformedRequestError      the request's body is no JSON, or not of this form    -> REST 500
  NotFoundError              no such connector, task, plugin or logger             -> REST 404
    UnsupportedError         the server is too old for a request                   (tools/offsets)
  ConflictError              exists already, or a conflicting change is under way  -> REST 409
  ForbiddenError             switched off by the worker's settings                 -> REST 403
  ServerError                a server failed, or is no Connect worker              (tools/client)
    UnauthorizedError        it wants a user and a password, or other ones         (tools/client)
  DeadlineExceededError      a step ran out of time; the text names the step       -> REST 500
  DataError                  this record is wrong; tolerated, or fails the task
    FaultError               a record in a Spark job; carries its fault            (worker/pipeline)
    RefusedError             a target refuses one of a batch; found and tolerated, or the same
      UnfitError             it refuses all of a schema: none need be looked for
  OtherLayoutError           a record is not laid out as the batch was planned     (worker/pipeline)
  RetriableError             the same call may succeed later
    ServiceAwayError         a server that a plugin needs is away; repeated without end
    SessionLostError         the Spark JVM is gone; the session is rebuilt
      SparkAwayError         Spark does not start, or not yet; repeated without end
    MovedOnError             another task wrote these records meanwhile            (connectors/jdbc)
  PluginError                a plugin broke its contract; fails the task
  StorageError               an internal topic or file can't be read or written
    GroupActiveError         the group has members, which own its offsets
  RebalancedError            a sink's partitions moved to another member; the batch is dropped
  GivenUpError               a task that was left behind wants to go on
  SetupError                 Java, a jar, a port: the machine lacks something
  ChangeError                offsets could not be changed; the text says what was  (tools/offsets)
  SyntaxProblemError         a file of connectors can't be read                    (tools/manager)
  DemoError                  the demo did not show what it promises                (demo)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class PenstockError(Exception):
    """Root of all errors that Penstock raises on purpose."""


class ConfigError(PenstockError):
    """A configuration was refused. `errors` has the messages of each wrong key."""

    def __init__(self, message: str, errors: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.errors: dict[str, tuple[str, ...]] = {
            name: tuple(messages) for name, messages in (errors or {}).items()
        }


class BadRequestError(PenstockError):
    """The request itself is wrong."""


class MalformedRequestError(PenstockError):
    """The body of a request can't be read; the API answers 500 to it, as Kafka Connect does."""


class NotFoundError(PenstockError):
    """The connector, task, plugin or logger does not exist."""


class ConflictError(PenstockError):
    """It already exists, or another change is in progress."""


class ForbiddenError(PenstockError):
    """The worker's settings do not allow this."""


class DeadlineExceededError(PenstockError):
    """A step did not finish in its time; the text names the step."""


class DataError(PenstockError):
    """A record can't be processed; `errors.tolerance` says whether that fails the task."""


class RefusedError(DataError):
    """A target refuses a record of a batch, and has written nothing of that batch.

    The framework finds the record by writing smaller batches. `row`, its number in the batch's
    frame, makes that faster; it may be wrong.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class UnfitError(RefusedError):
    """A target refuses all records of the batch's schemas, whatever their values."""


class RetriableError(PenstockError):
    """The same call may succeed later; the framework repeats it after a back-off."""


class ServiceAwayError(RetriableError):
    """A server that a conversion needs is away: the task waits without end, as for Kafka."""


class PluginError(PenstockError):
    """A plugin can't be loaded, or broke its contract."""


class StorageError(PenstockError):
    """An internal topic or file can't be read or written."""


class GroupActiveError(StorageError):
    """The consumer group has members: its offsets can't be changed from outside."""


class RebalancedError(PenstockError):
    """This member lost its partitions: it must not commit for them, and drops the batch."""


class GivenUpError(PenstockError):
    """A task did not stop in time; another may have replaced it, so it must do nothing more."""


class SetupError(PenstockError):
    """The machine lacks something; the text says what to install or change."""


class SessionLostError(RetriableError):
    """The Spark JVM died; the worker makes a new session and repeats the batch."""


class SparkAwayError(SessionLostError):
    """There is no Spark session, and none can be made now."""


def with_causes(error: BaseException) -> str:
    """An error and its causes in one text, each once, in the order of Java's stack traces."""
    text, cause = str(error), error.__cause__
    if cause is None:
        return text
    more = with_causes(cause)
    return text if more in text else f"{text}: {more}"
