"""Plugins of plugin.path and of installed packages: found, found again, changed and broken."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.kernel.errors import NotFoundError, PluginError
from penstock.plugins import Plugins, importing, outside
from penstock.testing.waiting import patient
from penstock.worker.herder.secrets import Secrets

PLUGIN = """
from penstock.api import ColumnPredicate
class {name}(ColumnPredicate):
    java_name = "com.example.{name}"
    version = "{version}"
    def column(self, envelope):
        return envelope
"""


@pytest.fixture(autouse=True)
def _clean_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("demo_"):
            del sys.modules[name]


def source(name: str, version: str = "1") -> str:
    return PLUGIN.format(name=name, version=version)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def wheel(path: Path, files: dict[str, str], *, pure: bool = True) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("demo-1.dist-info/WHEEL", f"Root-Is-Purelib: {str(pure).lower()}\n")
    return path


def names(found: Plugins) -> list[str]:
    return [info.name for info in found.infos() if info.name.startswith("com.example.")]


def test_a_folder_with_modules_packages_folders_and_wheels(tmp_path: Path) -> None:
    write(tmp_path / "demo_rain.py", source("Rain"))
    write(tmp_path / "demo_wind" / "__init__.py", "from demo_wind.inner import Wind")
    write(tmp_path / "demo_wind" / "inner.py", source("Wind"))
    write(tmp_path / "vendor" / "demo_snow.py", source("Snow"))
    write(tmp_path / "vendor" / "demo_hail" / "__init__.py", source("Hail"))
    wheel(tmp_path / "demo_fog-1-py3-none-any.whl", {"demo_fog/__init__.py": source("Fog")})
    found = Plugins.discover([str(tmp_path)])
    assert found.broken == []
    assert names(found) == [
        f"com.example.{name}" for name in ("Fog", "Hail", "Rain", "Snow", "Wind")
    ]
    assert found.find("Rain").version == "1"
    for name in names(found):
        assert found.load_named(name).class_name() == name
    assert {"demo_rain", "demo_wind", "demo_fog"} <= found.local_modules


def test_single_files_and_packages_are_entries_too(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "demo_single.py", source("Single"))
    package = write(tmp_path / "b" / "demo_whole" / "__init__.py", source("Whole")).parent
    packed = wheel(tmp_path / "demo_packed.whl", {"demo_packed.py": source("Packed")})
    found = Plugins.discover([str(file), str(package), str(packed)])
    assert names(found) == [f"com.example.{name}" for name in ("Packed", "Single", "Whole")]


def test_a_wheel_names_its_plugins_as_entry_points(tmp_path: Path) -> None:
    files = {
        "demo_points/__init__.py": "",
        "demo_points/used.py": source("Used"),
        "demo_points/unused.py": "1 / 0",
        "demo-1.dist-info/entry_points.txt": "[penstock.plugins]\nx = demo_points.used:Used\n",
    }
    found = Plugins.discover([str(wheel(tmp_path / "demo_points.whl", files))])
    assert names(found) == ["com.example.Used"]
    assert found.broken == []


def test_names_with_an_underscore_and_imported_plugins_are_left_out(tmp_path: Path) -> None:
    text = source("_Base") + "from penstock.transforms.filter import Filter\n"
    write(
        tmp_path / "demo_base.py", text + "class Real(_Base):\n    java_name = 'com.example.Real'\n"
    )
    assert names(Plugins.discover([str(tmp_path)])) == ["com.example.Real"]


def test_entries_with_nothing_in_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / "java" / "lib" / "old.jar", "")
    write(tmp_path / "empty" / "notes.txt", "")
    with caplog.at_level(logging.WARNING):
        Plugins.discover([str(tmp_path / name) for name in ("java", "empty", "none")])
    assert "java has only Java plugins" in caplog.text
    assert "empty, which has no Python module, package or wheel" in caplog.text
    assert "none, which does not exist" in caplog.text


# ------------------------------------------------------------------------------- new and changed


def test_a_new_plugin_is_found_when_somebody_asks_for_it(tmp_path: Path) -> None:
    found = Plugins.discover([str(tmp_path)])
    before = found.generation
    with pytest.raises(NotFoundError):
        found.find("com.example.Late")
    write(tmp_path / "demo_late.py", source("Late"))
    assert found.find("com.example.Late").version == "1"
    assert found.generation == before + 1
    write(tmp_path / "demo_later.py", source("Later"))
    assert "com.example.Later" not in names(found)
    found.look_again()
    assert "com.example.Later" in names(found)
    (tmp_path / "demo_late.py").unlink()
    found.look_again()
    assert names(found) == ["com.example.Later"]


def test_a_changed_file_is_what_is_loaded_from_then_on(tmp_path: Path) -> None:
    helper = write(tmp_path / "demo_helper.py", "VERSION = '1'")
    text = source("Calm") + "    from demo_helper import VERSION as version\n"
    write(tmp_path / "demo_calm.py", text)
    found = Plugins.discover([str(tmp_path)])
    old = found.load_named("Calm")
    assert found.load_named("Calm") is old
    # Of the same length and within the same second: Python's own cache would not notice.
    helper.write_text("VERSION = '2'")
    new = found.load_named("Calm")
    assert new is not old
    assert (old.version, new.version) == ("1", "2")
    assert found.find("Calm").version == "2"


def test_a_changed_wheel(tmp_path: Path) -> None:
    path = tmp_path / "demo_tide.whl"
    wheel(path, {"demo_tide.py": source("Tide", "1")})
    found = Plugins.discover([str(path)])
    assert found.load_named("Tide").version == "1"
    wheel(path, {"demo_tide.py": source("Tide", "2") + "# longer\n"})
    assert found.load_named("Tide").version == "2"


def test_nothing_is_imported_again_while_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "demo_still.py", source("Still"))
    write(tmp_path / "demo_bad.py", "1 / 0")
    found = Plugins.discover([str(tmp_path)])

    def fail(*_: object) -> None:
        raise AssertionError("imported again")

    monkeypatch.setattr(outside, "import_unit", fail)
    found.look_again()
    found.load_named("Still")
    with pytest.raises(NotFoundError):
        found.find("com.example.None")


def test_passwords_of_a_plugin_that_came_later_are_hidden(tmp_path: Path) -> None:
    found = Plugins.discover([str(tmp_path)])
    secrets = Secrets(found)
    config = {"transforms.x.type": "com.example.Safe", "transforms.x.pin": "1234"}
    assert secrets.masked(config) == config
    text = source("Safe").replace("ColumnPredicate", "ColumnTransformation")
    text = "from penstock.api import Config, Type, key\n" + text.replace("column(", "columns(")
    text += "    class Config(Config):\n        pin: str = key(Type.PASSWORD, doc='Secret.')\n"
    write(tmp_path / "demo_safe.py", text)
    found.look_again()
    assert secrets.masked(config)["transforms.x.pin"] == "[hidden]"


# ---------------------------------------------------------------------------------------- broken


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (<file>, line 2)"),
        ("import demo_x", "ModuleNotFoundError: No module named 'demo_x' (<file>, line 1)"),
        ("import penstock.config", "ModuleNotFoundError: No module named 'penstock.config';"
         " plugins import from penstock.api (<file>, line 1)"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (<file>, line 2)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt:  (<file>, line 1)"),
        ("def f(:\n", "SyntaxError: invalid syntax (<file>, line 1)"),
    ],
)  # fmt: skip
def test_a_broken_plugin_is_told_and_breaks_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, error: str
) -> None:
    write(tmp_path / "demo_fine.py", source("Fine"))
    file = write(tmp_path / "demo_broken.py", f"{text}\njava_name = 'com.example.Broken'\n")
    with caplog.at_level(logging.WARNING):
        found = Plugins.discover([str(tmp_path)])
    assert names(found) == ["com.example.Fine"]
    [broken] = found.broken
    assert (broken.name, broken.path) == ("demo_broken", str(file))
    assert broken.error == error.replace("<file>", str(file))
    assert str(broken) in caplog.text
    for name in ("com.example.Broken", "demo_broken.Broken"):
        with pytest.raises(NotFoundError) as caught:
            found.find(name)
        assert str(caught.value) == f"Unknown plugin {name}. {broken}"
        with pytest.raises(LookupError, match="Plugin demo_broken"):
            found.class_name(name)
        with pytest.raises(NotFoundError, match=r"connectors are: .* Plugin demo_broken"):
            found.connector(name)
    with pytest.raises(NotFoundError, match=r"^Unknown plugin com\.example\.Other\.$"):
        found.find("com.example.Other")


def test_an_import_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "IMPORT_SECONDS", 0.3)
    write(tmp_path / "demo_aaa.py", "import threading; threading.Event().wait(600)")
    write(tmp_path / "demo_fine2.py", source("Fine2"))
    begun = time.monotonic()
    found = Plugins.discover([str(tmp_path)])
    assert time.monotonic() - begun < patient(3)
    assert found.broken[0].error == "its import did not end within 0 s"
    assert names(found) == ["com.example.Fine2"]


def test_a_repaired_plugin_and_one_that_breaks(tmp_path: Path) -> None:
    file = write(tmp_path / "demo_moody.py", "1 / 0")
    found = Plugins.discover([str(tmp_path)])
    file.write_text(source("Moody"))
    info = found.find("Moody")
    assert found.broken == []
    used = found.load(info)
    file.write_text(source("Moody") + "1 / 0\n")
    with pytest.raises(PluginError, match=r"demo_moody.*ZeroDivisionError.*line 8"):
        found.load(info)
    # Who has the class already goes on with it.
    assert used.class_name() == "com.example.Moody"
    os.utime(file)
    assert [each.name for each in found.broken] == ["demo_moody"]


def test_what_a_broken_one_was_waiting_for(tmp_path: Path) -> None:
    write(tmp_path / "demo_user.py", "import demo_used_later\n" + source("User"))
    found = Plugins.discover([str(tmp_path)])
    assert names(found) == []
    write(tmp_path / "demo_used_later.py", "")
    assert found.find("User").name == "com.example.User"


def test_names_that_are_taken(tmp_path: Path) -> None:
    write(tmp_path / "json.py", source("Json1"))
    write(tmp_path / "a" / "demo_twin.py", source("First"))
    write(tmp_path / "b" / "demo_twin.py", source("Second"))
    found = Plugins.discover([str(tmp_path)])
    assert names(found) == ["com.example.First"]
    twin, standard = sorted(found.broken, key=lambda each: each.name)
    assert standard.name == "json"
    assert standard.error.startswith("another module has the name json (")
    assert twin.path == str(tmp_path / "b" / "demo_twin.py")
    assert twin.error.startswith("another module has the name demo_twin (")


@pytest.mark.parametrize(
    ("attribute", "error"),
    [
        ("kind = 'transform'", "Odd: its kind must not be 'transform'"),
        ("version = 2", "Odd: its version must not be 2"),
        ("Config = dict", "Odd: its Config must not be <class 'dict'>"),
        ("java_name = 7", "Odd: its java_name must not be 7"),
        (
            "java_name = 'org.apache.kafka.connect.transforms.Filter'",
            "Penstock already has a plugin org.apache.kafka.connect.transforms.Filter",
        ),
    ],
)
def test_attributes_that_no_list_can_hold(tmp_path: Path, attribute: str, error: str) -> None:
    write(tmp_path / "demo_odd.py", source("Odd") + f"    {attribute}\n")
    write(tmp_path / "demo_even.py", source("Even"))
    found = Plugins.discover([str(tmp_path)])
    assert [each.error for each in found.broken] == [error]
    assert names(found) == ["com.example.Even"]


def test_two_plugins_of_one_name(tmp_path: Path) -> None:
    first = write(tmp_path / "demo_one.py", source("Same"))
    write(tmp_path / "demo_two.py", source("Same"))
    found = Plugins.discover([str(tmp_path)])
    assert [(each.name, each.error) for each in found.broken] == [
        ("demo_two", f"{first} already has a plugin com.example.Same")
    ]
    first.unlink()
    assert found.load_named("Same").__module__ == "demo_two"


def test_wheels_that_cant_be_used(tmp_path: Path) -> None:
    wheel(tmp_path / "demo_binary.whl", {"demo_binary.py": ""}, pure=False)
    write(tmp_path / "demo_torn.whl", "this is no archive")
    wheel(tmp_path / "demo_div.whl", {"demo_div.py": "1 / 0"})
    found = {each.name: each.error for each in Plugins.discover([str(tmp_path)]).broken}
    assert found["demo_binary.whl"].startswith("the wheel has compiled code; install it")
    assert found["demo_torn.whl"].startswith("the wheel can't be read: ")
    assert found["demo_div.whl"].startswith("ZeroDivisionError: division by zero (")


# ------------------------------------------------------------------------------------- installed


def install(site: Path, package: str, text: str, target: str) -> None:
    write(site / f"{package}.py", text)
    info = site / f"{package}-1.dist-info"
    write(info / "METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    write(info / "entry_points.txt", f"[penstock.plugins]\n{package} = {target}\n")


def test_installed_packages_also_while_running(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    sys.path.append(str(site))
    found = Plugins.discover()
    assert names(found) == []
    install(site, "demo_dist", source("Dist"), "demo_dist")
    install(site, "demo_class", source("ClassOf"), "demo_class:ClassOf")
    install(site, "demo_sick", "1 / 0", "demo_sick")
    assert importlib.metadata.version("demo_dist") == "1"
    assert found.find("com.example.Dist").version == "1"
    assert names(found) == ["com.example.ClassOf", "com.example.Dist"]
    assert found.load_named("ClassOf").class_name() == "com.example.ClassOf"
    [broken] = found.broken
    assert (broken.name, broken.path) == ("demo_sick", "entry point demo_sick")
    with pytest.raises(NotFoundError, match="ZeroDivisionError"):
        found.find("demo_sick.Anything")
    assert found.local_modules == frozenset()


def test_a_class_that_lacks_a_method_is_told(tmp_path: Path) -> None:
    text = "from penstock.api import RecordTransformation\nclass Typo(RecordTransformation):\n"
    write(tmp_path / "demo_typo.py", f"{text}    def aply(self, record):\n        return record\n")
    plugins = Plugins.discover([str(tmp_path)])
    with pytest.raises(
        NotFoundError, match=r"demo_typo\.Typo has no apply\(\), so it is not a plugin"
    ):
        plugins.find("demo_typo.Typo")
