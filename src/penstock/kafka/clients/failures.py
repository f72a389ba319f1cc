"""Converts errors of the client libraries to ours: what failed, where, and what to do."""

from __future__ import annotations

import re
from typing import Final

import confluent_kafka
import kafka.errors
from confluent_kafka import KafkaError

from penstock.kernel.errors import (
    ConfigError,
    GroupActiveError,
    PenstockError,
    RebalancedError,
    RetriableError,
    SetupError,
    StorageError,
)

_GRANT: Final = "the broker does not allow it: give this client's user the right to do so (ACL)"
_LOGIN: Final = "the broker refused the login: check security.protocol, sasl.* and ssl.*"
_NUMBERED: Final = re.compile(r"\[Error -?\d+\] ")
_AGAIN: Final = "the broker can't do it now; it is tried again"

_PYTHON_FAILURES: Final[
    tuple[tuple[tuple[type[Exception], ...], type[PenstockError], str], ...]
] = (
    (
        (
            kafka.errors.SaslAuthenticationFailedError,
            kafka.errors.UnsupportedSaslMechanismError,
            kafka.errors.IllegalSaslStateError,
        ),
        SetupError,
        _LOGIN,
    ),
    ((kafka.errors.AuthorizationError,), StorageError, _GRANT),
    (
        (
            kafka.errors.NonEmptyGroupError,
            kafka.errors.GroupSubscribedToTopicError,
            kafka.errors.UnknownMemberIdError,
            kafka.errors.RebalanceInProgressError,
        ),
        GroupActiveError,
        "stop the members of the group first",
    ),
    (
        (kafka.errors.KafkaConfigurationError,),
        SetupError,
        "check the client properties of the worker",
    ),
    ((kafka.errors.RetriableError, OSError), RetriableError, _AGAIN),
)


def python_failure(error: Exception, what: str) -> PenstockError:
    """Our error for one that kafka-python raised while doing `what`."""
    if isinstance(error, PenstockError):
        return error
    name = type(error).__name__
    # The library's errors begin with their number and name.
    reason = _NUMBERED.sub("", str(error)).removeprefix(name).removeprefix(": ")
    text = f"{what}: {name}: {reason}" if reason else f"{what}: {name}"
    for kinds, ours, hint in _PYTHON_FAILURES:
        if isinstance(error, kinds):
            return ours(f"{text}; {hint}")
    return StorageError(text)


_REBALANCED: Final = frozenset({
    KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID,
    KafkaError.REBALANCE_IN_PROGRESS, KafkaError._ASSIGNMENT_LOST,  # noqa: SLF001
    KafkaError.FENCED_MEMBER_EPOCH, KafkaError.STALE_MEMBER_EPOCH,
})  # fmt: skip
_FORBIDDEN: Final = frozenset({
    KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
})  # fmt: skip
_REFUSED: Final = frozenset({
    KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED,  # noqa: SLF001
})  # fmt: skip
_TRANSIENT: Final = frozenset({
    KafkaError._ALL_BROKERS_DOWN, KafkaError._MSG_TIMED_OUT, KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE, KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._WAIT_COORD, KafkaError._PURGE_INFLIGHT, KafkaError._PURGE_QUEUE,  # noqa: SLF001
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NETWORK_EXCEPTION, KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
})  # fmt: skip


def is_transient(error: KafkaError) -> bool:
    """Whether librdkafka, or the next call, recovers by itself."""
    return not error.fatal() and (error.retriable() or error.code() in _TRANSIENT)


def librdkafka_failure(error: Exception, what: str) -> PenstockError:
    """Our error for one that confluent-kafka raised while doing `what`."""
    if isinstance(error, PenstockError):
        return error
    cause = error.args[0] if isinstance(error, confluent_kafka.KafkaException) else None
    if isinstance(cause, KafkaError):
        return event_failure(cause, what)
    return StorageError(f"{what}: {type(error).__name__}: {error}")


def event_failure(error: KafkaError, what: str) -> PenstockError:
    """Our error for an error event of librdkafka."""
    text = f"{what}: {error.name()}: {error.str()}"
    code = error.code()
    if code in _REBALANCED:
        return RebalancedError(f"{text}; another member of the group has the partitions")
    if code in _FORBIDDEN:
        return StorageError(f"{text}; {_GRANT}")
    if code in _REFUSED:
        return SetupError(f"{text}; {_LOGIN}")
    if code == KafkaError._INVALID_ARG:  # noqa: SLF001
        return ConfigError(text)
    if is_transient(error):
        return RetriableError(f"{text}; {_AGAIN}")
    return StorageError(text)
