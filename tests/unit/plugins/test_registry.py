from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from penstock.api import ColumnPredicate, Envelope, PluginKind
from penstock.api.plugin import CONNECT_VERSION
from penstock.kernel.errors import NotFoundError, PluginError
from penstock.plugins import BUILT_IN, PluginInfo, Plugins, rest_list
from penstock.testing.waiting import patient

if TYPE_CHECKING:
    from pyspark.sql import Column

JAVA = "org.apache.kafka.connect"

#: What Kafka Connect 4.1.1 answered when asked for each name.
ALIASES = [
    ("Json", f"{JAVA}.json.JsonConverter"),
    ("JsonConverter", f"{JAVA}.json.JsonConverter"),
    ("String", f"{JAVA}.storage.StringConverter"),
    ("Simple", f"{JAVA}.storage.SimpleHeaderConverter"),
    ("SimpleHeaderConverter", f"{JAVA}.storage.SimpleHeaderConverter"),
    ("RegexRouter", f"{JAVA}.transforms.RegexRouter"),
    (f"{JAVA}.transforms.InsertField$Value", f"{JAVA}.transforms.InsertField$Value"),
    ("TopicNameMatches", f"{JAVA}.transforms.predicates.TopicNameMatches"),
    ("FileStreamSource", f"{JAVA}.file.FileStreamSourceConnector"),
    ("FileStreamSinkConnector", f"{JAVA}.file.FileStreamSinkConnector"),
]
UNKNOWN = ["json", "Value", "InsertField$Value", "InsertField", "FileStream", "SimpleHeader", ""]


class Sunny(ColumnPredicate):
    """A plugin that exists in Penstock only."""

    def column(self, envelope: Envelope) -> Column:
        return envelope.fault.isNull()


@pytest.mark.parametrize(("name", "full"), ALIASES)
def test_names_stand_for_what_they_do_in_connect(name: str, full: str) -> None:
    assert Plugins().find(name).name == full


@pytest.mark.parametrize("name", UNKNOWN)
def test_names_that_connect_does_not_know_either(name: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        Plugins().find(name)
    assert str(caught.value) == f"Unknown plugin {name}."


def test_a_resolver_for_settings() -> None:
    assert Plugins().class_name("Json") == f"{JAVA}.json.JsonConverter"
    with pytest.raises(LookupError):
        Plugins().class_name("Jsonn")


def test_the_list_is_in_connects_order() -> None:
    kinds = [info.kind for info in Plugins(reversed(BUILT_IN)).infos()]
    order = ["sink", "source", "transformation", "predicate", "converter", "header_converter"]
    assert list(dict.fromkeys(kinds)) == order
    names = [info.name for info in Plugins().infos([PluginKind.CONVERTER])]
    assert names == sorted(names)
    assert len([name for name in names if name.startswith("org.apache.kafka.")]) == 9


def test_a_version_that_is_unknown_is_left_out() -> None:
    known, unknown = rest_list(
        [
            PluginInfo("a.B", PluginKind.SINK, CONNECT_VERSION, "m"),
            PluginInfo("a.C", PluginKind.SINK, None, "m"),
        ]
    )
    assert known == {"class": "a.B", "type": "sink", "version": "4.1.1"}
    assert unknown == {"class": "a.C", "type": "sink"}


def test_a_connector_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(NotFoundError) as caught:
        Plugins().connector("JsonConverter")
    text = str(caught.value)
    assert text.startswith(
        "Failed to find any class that implements Connector and which name matches JsonConverter, "
        "available connectors are: PluginDesc{klass=class "
    )
    assert f"PluginDesc{{klass=class {JAVA}.file.FileStreamSinkConnector, " in text


@pytest.mark.parametrize("info", BUILT_IN, ids=lambda info: f"{info.kind}-{info.name}")
def test_every_built_in_plugin_loads_and_documents_its_keys(info: PluginInfo) -> None:
    plugin = Plugins().load(info)
    assert plugin.class_name() == info.name
    for key in plugin.Config.definition():
        assert key.documentation, f"{info.name}: {key.name} has no documentation"


def test_reading_every_config_does_not_import_spark() -> None:
    code = (
        "import sys; from penstock.plugins import Plugins; made = Plugins.discover();"
        "[made.load(info).Config.definition() for info in made.infos()];"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=False, timeout=patient()).returncode == 0
    )


def test_a_python_path_is_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{Sunny.__module__}.Sunny"
    found = Plugins().find(name, [PluginKind.PREDICATE])
    assert found == PluginInfo(name, PluginKind.PREDICATE, None, Sunny.__module__)
    with pytest.raises(NotFoundError):
        Plugins().find(name, [PluginKind.SINK])
    for other in (
        "json.JSONDecoder",
        "penstock.api.ConfigError",
        ".x",
        "no_such_module.X",
    ):
        with pytest.raises(NotFoundError):
            Plugins().find(other)


def test_no_request_imports_the_standard_library() -> None:
    sys.modules.pop("this", None)
    with pytest.raises(NotFoundError):
        Plugins().find("this.Zen")
    assert "this" not in sys.modules


def test_a_module_without_the_plugin_is_a_plugin_error() -> None:
    made = Plugins([PluginInfo("a.B", PluginKind.SINK, None, "json")])
    with pytest.raises(PluginError, match=r"a\.B: module json has no plugin of that name"):
        made.load(made.find("a.B"))
    made = Plugins([PluginInfo("a.B", PluginKind.SINK, None, "no_such_module")])
    with pytest.raises(PluginError, match=r"a\.B: module no_such_module can't be imported"):
        made.load(made.find("a.B"))
