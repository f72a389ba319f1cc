"""Every error Penstock raises, grouped by what the framework does about it.

PenstockError
  ConfigError                rejected before anything runs; one message per key    -> REST 400
  BadRequestError            the request itself is wrong                           -> REST 400
  NotFoundError              no such connector, task, plugin or logger             -> REST 404
  ConflictError              exists already, or a conflicting change is under way  -> REST 409
  ForbiddenError             switched off by the worker's settings                 -> REST 403
  DeadlineExceededError      a step ran out of time; the text names the step       -> REST 500
  DataError                  this record is wrong; tolerated, or fails the task
    RefusedError             a target refuses one of a batch; found and tolerated, or the same
      UnfitError             it refuses all of a schema: none need be looked for
  RetriableError             the same call may succeed later
    ServiceAwayError         a server that a plugin needs is away; repeated without end
  PluginError                a plugin broke its contract; fails the task
  StorageError               an internal topic or file can't be read or written
  GivenUpError               a task that was left behind wants to go on
  SetupError                 Java, a jar, a port: the machine lacks something
  SessionLostError           the Spark JVM is gone; the session is rebuilt
    SparkAwayError           Spark does not start, or not yet; repeated without end
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
    """The request can't be carried out as it stands."""


class NotFoundError(PenstockError):
    """The connector, task, plugin or logger does not exist."""


class ConflictError(PenstockError):
    """It exists already, or another change is under way."""


class ForbiddenError(PenstockError):
    """The worker's settings do not allow this."""


class DeadlineExceededError(PenstockError):
    """A step did not finish in its time; the text names the step."""


class DataError(PenstockError):
    """A record can't be processed; whether that fails the task is `errors.tolerance`."""


class RefusedError(DataError):
    """A target refuses a record of a batch, and has written nothing of that batch.

    Which record that is need not be known: the framework finds it by writing smaller batches.
    `row`, its number in the batch's frame, makes that quicker; it may be wrong.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class UnfitError(RefusedError):
    """A target takes no record of the batch's schemas, whatever is in it."""


class RetriableError(PenstockError):
    """The same call may succeed later; the framework repeats it after a back-off."""


class ServiceAwayError(RetriableError):
    """A server that a conversion needs is away: waited for without end, as for Kafka itself."""


class PluginError(PenstockError):
    """A plugin can't be loaded, or broke its contract."""


class StorageError(PenstockError):
    """An internal topic or file can't be read or written."""


class GroupActiveError(StorageError):
    """The consumer group has members: its offsets can't be changed from outside."""


class RebalancedError(PenstockError):
    """This member lost its partitions: nothing may be committed for them, the batch is dropped."""


class GivenUpError(PenstockError):
    """A task did not stop in its time; another may be in its place, so it must do nothing more."""


class SetupError(PenstockError):
    """The machine lacks something; the text says what to install or change."""


class SessionLostError(RetriableError):
    """The Spark JVM went away; a new session is made and the batch repeated."""


class SparkAwayError(SessionLostError):
    """There is no session, and none can be made now: no fault of whoever needs it."""


def with_causes(error: BaseException) -> str:
    """An error and its causes in one text, as Java's stack traces list them, each once."""
    text, cause = str(error), error.__cause__
    if cause is None:
        return text
    more = with_causes(cause)
    return text if more in text else f"{text}: {more}"
