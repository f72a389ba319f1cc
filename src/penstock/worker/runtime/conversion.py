"""The converters of a connector: its own, else the worker's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from penstock.api.converter import Converter
from penstock.api.plugin import PluginKind
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.errors import ConfigError
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import HEADER_CONVERTER
from penstock.worker.pipeline.pipeline import Converters, JsonForm

JSON: Final = "org.apache.kafka.connect.json.JsonConverter"


def converters_of(
    connector: Mapping[str, str], worker: Mapping[str, str], plugins: Plugins
) -> Converters:
    return Converters(
        key=_converter("key.converter", connector, worker, plugins),
        value=_converter("value.converter", connector, worker, plugins),
    )


def json_form(plugins: Plugins) -> JsonForm:
    plugin = cast("type[Converter]", plugins.load_named(JSON, PluginKind.CONVERTER))

    def converter(*, schemas: bool) -> Converter:
        keys = {"converter.type": "value", "schemas.enable": str(schemas).lower()}
        return plugin(plugin.Config.parse(keys), is_key=False)

    return JsonForm(converter(schemas=True), converter(schemas=False))


def with_header_converter(
    connector: Mapping[str, str], worker: Mapping[str, str]
) -> Mapping[str, str]:
    """The connector's configuration, with the worker's header converter if it names none."""
    if connector.get(HEADER_CONVERTER):
        return connector
    others = {k: v for k, v in connector.items() if not _is_of(HEADER_CONVERTER, k)}
    return others | {k: v for k, v in worker.items() if _is_of(HEADER_CONVERTER, k)}


def _is_of(role: str, key: str) -> bool:
    return key == role or key.startswith(f"{role}.")


def _converter(
    role: str, connector: Mapping[str, str], worker: Mapping[str, str], plugins: Plugins
) -> Converter:
    # Keys of a converter count only beside the class they are for: as in Connect, a connector
    # that names its own converter inherits none of the worker's keys for it.
    chosen = connector if connector.get(role) else worker
    name = chosen.get(role)
    if not name:
        raise ConfigError(f'Missing required configuration "{role}" which has no default value.')
    is_key = role.startswith("key.")
    own = under_prefix(chosen, f"{role}.")
    own["converter.type"] = "key" if is_key else "value"
    plugin = cast("type[Converter]", plugins.load_named(name, PluginKind.CONVERTER))
    return plugin(plugin.Config.parse(own), is_key=is_key)
