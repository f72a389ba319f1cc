"""Writes the reference pages: the worker's properties, and one page for each plugin.

Everything on them comes from the Config classes, so pages and code always agree.
Run as `python -m penstock.docs [DIRECTORY]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from penstock.api.plugin import Plugin, PluginKind
from penstock.kafka.client_keys import WORKER_KEYS
from penstock.kernel.config import ConfigDef, ConfigKey
from penstock.kernel.config.values import render
from penstock.plugins import BUILT_IN, PluginInfo, Plugins
from penstock.worker.settings import PREFIXES, DistributedSettings, StandaloneSettings
from penstock.worker.settings.connector_keys import SINK_KEYS, SOURCE_KEYS, common_keys
from penstock.worker.settings.worker import WorkerSettings

_NOTE: Final = "<!-- Written by `make docs` from the code; edit the doc texts there. -->"

_KINDS: Final = {
    PluginKind.SOURCE: ("Source connectors", "They write records to Kafka."),
    PluginKind.SINK: ("Sink connectors", "They read records from Kafka."),
    PluginKind.TRANSFORMATION: ("Transformations", "They change records."),
    PluginKind.PREDICATE: ("Predicates", "They choose the records that a transformation changes."),
    PluginKind.CONVERTER: (
        "Converters",
        "They convert between data and bytes; those without a schema registry also convert "
        "headers.",
    ),
    PluginKind.HEADER_CONVERTER: (
        "Header converters",
        "They convert between header values and bytes only.",
    ),
}

_PREFIX_TEXTS: Final = {
    "producer.": "settings of the producers of source connectors and dead letters",
    "consumer.": "settings of the consumers of sink connectors",
    "admin.": "settings of admin clients",
    "key.converter.": "keys of the key converter",
    "value.converter.": "keys of the value converter",
    "header.converter.": "keys of the header converter",
    "config.providers.": "classes and parameters of config providers",
    "listeners.https.": "TLS settings (`ssl.*`) of https listeners",
    "admin.listeners.https.": "TLS settings of https admin listeners",
    "metrics.context.": "labels of metrics",
    "spark.": "settings of the Spark session, such as `spark.master`",
}

_CONNECTOR_PREFIXES: Final = {
    "transforms.<alias>.": "`type` of the transformation, `predicate` and `negate`, and the keys "
    "of its class",
    "predicates.<alias>.": "`type` of the predicate and the keys of its class",
    "key.converter., value.converter., header.converter.": "keys of the converter's class",
    "topic.creation.<group>.": "`include` and `exclude` (expressions for topic names), "
    "`replication.factor`, `partitions` and any setting of a topic; the group `default` is for "
    "all other topics and is required if there is any group",
    "producer.override., consumer.override., admin.override.": "settings of the connector's own "
    "Kafka clients, as far as the worker's policy allows them",
}


def pages(plugins: Plugins) -> dict[str, str]:
    """Every page by its path in the docs directory."""
    found = {"worker.md": worker_page(), "connectors.md": connector_page()}
    described = list(_grouped(plugins))
    found["plugins/README.md"] = _index(described)
    for path, infos in described:
        found[f"plugins/{path}"] = _plugin_page(plugins, infos)
    return found


def worker_page() -> str:
    """All worker properties: for both modes, for one of them, and for Kafka clients."""
    common = WorkerSettings.definition()
    parts = [
        "# Worker properties",
        _NOTE,
        "A worker reads these from its properties file, or from environment variables: "
        "`CONNECT_GROUP_ID` is `group.id`, `__` stands for an underscore and `___` for a dash.\n"
        "A worker with a wrong value does not start. It logs a warning for an unknown key.",
        "## Both modes",
        *_keys(common),
        "## Standalone mode",
        *_keys(_without(StandaloneSettings.definition(), common)),
        "## Distributed mode",
        *_keys(_without(DistributedSettings.definition(), common)),
        "## Connections to Kafka",
        "For every Kafka client of the worker. Set other values for some clients under "
        "`producer.`, `consumer.` and `admin.`.",
        *_keys(WORKER_KEYS),
        "## Prefixes",
        "\n".join(f"- `{prefix}`: {_PREFIX_TEXTS[prefix]}" for prefix in PREFIXES),
    ]
    return _page(parts)


def connector_page() -> str:
    """The keys that every connector has."""
    parts = [
        "# Connector properties",
        _NOTE,
        "Every connector has these and the keys of its class.",
        "## All connectors",
        *_keys(common_keys(None)),
        "## Source connectors",
        *_keys(SOURCE_KEYS),
        "A source may also have the keys `errors.deadletterqueue.*` of sinks, unlike in Kafka "
        "Connect; the REST API lists them for a source whose config has one of them.",
        "## Sink connectors",
        *_keys(SINK_KEYS),
        "## Prefixes",
        "\n".join(f"- `{prefix}`: {text}" for prefix, text in _CONNECTOR_PREFIXES.items()),
    ]
    return _page(parts)


def write(folder: Path, plugins: Plugins) -> None:
    """Write all pages, and remove pages of plugins that no longer exist."""
    found = pages(plugins)
    (folder / "plugins").mkdir(parents=True, exist_ok=True)
    for old in (folder / "plugins").glob("*.md"):
        if f"plugins/{old.name}" not in found:
            old.unlink()
    for path, text in found.items():
        (folder / path).write_text(text, encoding="utf-8")


def _grouped(plugins: Plugins) -> Iterator[tuple[str, list[PluginInfo]]]:
    """Plugins that share a page: the $Key and $Value of a transformation."""
    found: dict[str, list[PluginInfo]] = {}
    converters = {info.name for info in plugins.infos([PluginKind.CONVERTER])}
    for info in plugins.infos():
        # Nearly every converter is also a header converter; one page is enough.
        if info.kind is not PluginKind.HEADER_CONVERTER or info.name not in converters:
            found.setdefault(f"{info.kind}-{_title(info)}.md", []).append(info)
    yield from found.items()


def _title(info: PluginInfo) -> str:
    # Two vendors have a connector of the same name: `io.aiven.…` is Aiven's.
    top, vendor, *_ = info.name.split(".")
    return (vendor.title() if top == "io" else "") + info.name.rpartition(".")[2].partition("$")[0]


def _index(described: Iterable[tuple[str, list[PluginInfo]]]) -> str:
    parts = ["# Plugins", _NOTE]
    listed = list(described)
    for kind, (title, text) in _KINDS.items():
        lines = [
            f"- [{_title(infos[0])}]({path})" for path, infos in listed if infos[0].kind is kind
        ]
        if lines:
            parts += [f"## {title}", text, "\n".join(lines)]
    return _page(parts)


def _plugin_page(plugins: Plugins, infos: list[PluginInfo]) -> str:
    plugin = plugins.load(infos[0])
    names = ", ".join(f"`{info.name}`" for info in infos)
    summary = _described_by(plugin, shared=len(infos) > 1).strip().split("\n\n")[0]
    keys = plugin.Config.definition()
    parts = [f"# {_title(infos[0])}", _NOTE, f"Class: {names}", " ".join(summary.split())]
    parts += ["## Keys", *_keys(keys)] if len(keys) else ["It has no keys of its own."]
    return _page([part for part in parts if part])


def _described_by(plugin: type[Plugin], *, shared: bool) -> str:
    # The docstrings of $Key and $Value say only which they are; that of their base describes them.
    own = [base for base in plugin.__mro__ if base.__module__ == plugin.__module__]
    return (own[1] if shared and len(own) > 1 else plugin).__doc__ or ""


def _keys(keys: ConfigDef | Iterable[ConfigKey]) -> list[str]:
    return [_key(key) for key in keys if not key.internal]


def _key(key: ConfigKey) -> str:
    facts = [f"- Type: {key.type.lower()}", _default(key)]
    if key.validator is not None:
        facts.append(f"- Valid: {key.validator}")
    facts.append(f"- Importance: {key.importance.lower()}")
    return f"### `{key.name}`\n\n{key.documentation}\n\n" + "\n".join(facts)


def _default(key: ConfigKey) -> str:
    if key.required:
        return "- Required"
    text = render(key.default, key.type)
    if text is None:
        return "- Default: null"
    return f"- Default: `{text}`" if text else "- Default: empty"


def _without(keys: ConfigDef, others: ConfigDef) -> list[ConfigKey]:
    return [key for key in keys if key.name not in others]


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the pages of the built-in plugins into a directory; by default `docs`."""
    folder, *more = sys.argv[1:] or ["docs"]
    if more or folder.startswith("-"):
        sys.exit("usage: python -m penstock.docs [DIRECTORY]")
    write(Path(folder), Plugins(BUILT_IN))


if __name__ == "__main__":
    main()
