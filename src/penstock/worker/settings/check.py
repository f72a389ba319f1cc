"""Reads a worker's properties: checks every key, raises for what can't work, warns of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from penstock.kafka.client_keys import JAVA_ONLY, WORKER_KEYS
from penstock.kafka.security import OWN_LOGINS
from penstock.kernel.config import ClassResolver
from penstock.kernel.config.unknown import nearest_key
from penstock.kernel.config.values import Type, parse_value
from penstock.kernel.errors import ConfigError
from penstock.worker.settings.spark import refusal
from penstock.worker.settings.worker import (
    DistributedSettings,
    Mode,
    StandaloneSettings,
    WorkerSettings,
)

MODES: Final[dict[Mode, type[WorkerSettings]]] = {
    Mode.STANDALONE: StandaloneSettings,
    Mode.DISTRIBUTED: DistributedSettings,
}

#: Keys with these prefixes belong to other parts, which check them.
PREFIXES: Final = (
    "producer.",
    "consumer.",
    "admin.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "config.providers.",
    "listeners.https.",
    "admin.listeners.https.",
    "metrics.context.",
    "spark.",
)
_TOPIC_PREFIXES: Final = ("offset.storage.", "config.storage.", "status.storage.")

#: Keys of older releases; they are in many users' files and do no harm.
_GONE: Final = {
    "internal.key.converter": "Kafka removed it in 3.0; internal topics are always JSON",
    "internal.value.converter": "Kafka removed it in 3.0; internal topics are always JSON",
    "rest.host.name": "Kafka removed it in 3.0; use listeners",
    "rest.port": "Kafka removed it in 3.0; use listeners",
}
_NO_EFFECT: Final = {
    "plugin.discovery": "Penstock finds the same plugins with every value",
    "metrics.sample.window.ms": "the metrics system that scrapes Penstock computes rates",
    "metrics.num.samples": "the metrics system that scrapes Penstock computes rates",
    "metrics.recording.level": "Penstock always records all metrics",
}


def worker_settings(
    props: Mapping[str, str], mode: Mode, classes: ClassResolver | None = None
) -> WorkerSettings:
    """The settings in a worker's properties; config providers must be resolved already.

    Args:
        props: the properties as text.
        mode: standalone or distributed.
        classes: resolves converter names; without it they are taken as they are.

    Raises:
        ConfigError: at least one key is wrong; the text has key, value and rule of each.
    """
    errors = _client_errors(props)
    try:
        settings = MODES[mode].read(props, tuple(warnings_of(props, mode)), classes)
    except ConfigError as error:
        raise _all({**error.errors, **errors}) from error
    errors |= _refusals(settings)
    if errors:
        raise _all(errors)
    return settings


def _client_errors(props: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    results = WORKER_KEYS.validate({name: props[name] for name in WORKER_KEYS.keys & props.keys()})
    return {result.name: result.errors[:1] for result in results if result.errors}


def _all(errors: Mapping[str, tuple[str, ...]]) -> ConfigError:
    return ConfigError("\n".join(text for texts in errors.values() for text in texts), errors)


def _refusals(settings: WorkerSettings) -> dict[str, tuple[str, ...]]:
    found = {
        name: text
        for name, check in _REFUSED.items()
        if name in settings.props and (text := check(settings))
    }
    for name in JAVA_ONLY & settings.props.keys():
        if settings.props[name] in OWN_LOGINS:
            continue
        found[name] = "it names Java code, which Penstock's clients can't run; remove it"
    for name, value in settings.spark.items():
        if text := refusal(name, value):
            found[name] = text
    return {
        name: (f"Invalid value {settings.props[name]} for configuration {name}: {text}",)
        for name, text in found.items()
    }


def _exactly_once(settings: WorkerSettings) -> str | None:
    if not isinstance(settings, DistributedSettings):
        return None
    if settings.exactly_once_source_support.lower() == "disabled":
        return None
    return "exactly-once for sources is not built yet; only disabled is supported"


def _extensions(settings: WorkerSettings) -> str | None:
    if not settings.rest_extension_classes:
        return None
    return "REST extensions are Java classes, which Penstock can't run; remove the key"


def _reporters(settings: WorkerSettings) -> str | None:
    others = [name for name in settings.metric_reporters if not name.endswith(".JmxReporter")]
    if not others:
        return None
    return "metrics reporters are Java classes, which Penstock can't run; scrape its metrics"


def _heartbeat(settings: WorkerSettings) -> str | None:
    if not isinstance(settings, DistributedSettings):
        return None
    if settings.heartbeat_interval_ms < settings.session_timeout_ms:
        return None
    return f"must be less than session.timeout.ms, which is {settings.session_timeout_ms}"


def _verification(settings: WorkerSettings) -> str | None:
    if not isinstance(settings, DistributedSettings):
        return None
    signature = settings.inter_worker_signature_algorithm
    if signature in settings.inter_worker_verification_algorithms:
        return None
    return f"must contain inter.worker.signature.algorithm, which is {signature}"


def _secrets_token(settings: WorkerSettings) -> str | None:
    token = settings.penstock_secrets_token
    if settings.penstock_secrets_shown != "with-token":
        return None
    if token is not None and len(token.value) >= _TOKEN_CHARACTERS:
        return None
    return f"it needs penstock.secrets.token with at least {_TOKEN_CHARACTERS} characters"


_TOKEN_CHARACTERS: Final = 16
_REFUSED: Final[dict[str, Callable[[WorkerSettings], str | None]]] = {
    "exactly.once.source.support": _exactly_once,
    "rest.extension.classes": _extensions,
    "metric.reporters": _reporters,
    "heartbeat.interval.ms": _heartbeat,
    "inter.worker.verification.algorithms": _verification,
    "penstock.secrets.shown": _secrets_token,
}


def warnings_of(props: Mapping[str, str], mode: Mode) -> Iterator[str]:
    """Warnings for keys that have no effect, or that are unknown."""
    own = MODES[mode].definition().keys
    for name in props:
        if name in own or name in WORKER_KEYS:
            if name in _NO_EFFECT:
                yield f"{name} has no effect: {_NO_EFFECT[name]}"
        elif not _belongs_elsewhere(name, mode):
            yield _unknown(name, mode)


def _belongs_elsewhere(name: str, mode: Mode) -> bool:
    of_topic = mode is Mode.DISTRIBUTED and name not in StandaloneSettings.definition()
    return name.startswith(PREFIXES + (_TOPIC_PREFIXES if of_topic else ()))


def _unknown(name: str, mode: Mode) -> str:
    for gone, reason in _GONE.items():
        if name == gone or name.startswith(f"{gone}."):
            return f"{name} is ignored: {reason}"
    other = next(each for each in Mode if each is not mode)
    if name in MODES[other].definition():
        return f"{name} is ignored: it is for {other} workers, and this one is {mode}"
    known = [*MODES[mode].definition().keys, *WORKER_KEYS.keys]
    near = nearest_key(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return f"{name} is not a known worker setting and is ignored{hint}"


def plugin_paths(props: Mapping[str, str]) -> list[str]:
    """The directories of plugin.path, needed before the other settings can be checked."""
    found: list[str] = parse_value("plugin.path", props.get("plugin.path"), Type.LIST) or []
    return [path for path in found if path]
