from __future__ import annotations

import multiprocessing
import stat
import time
import zipfile
from pathlib import Path

import pytest

from penstock.kernel.errors import DeadlineExceededError, SetupError
from penstock.machine import jars
from penstock.machine.cache import cache_home, locked
from penstock.machine.ivy import Coordinate, Ivy, _proxy_options
from penstock.testing.waiting import patient

_IVY_SCRIPT = """#!{python}
import pathlib, re, sys, time
arguments = sys.argv
pathlib.Path({calls!r}).open("a").write("called\\n")
module = pathlib.Path(arguments[arguments.index("-ivy") + 1]).read_text()
pattern = arguments[arguments.index("-retrieve") + 1]
time.sleep(0.3)
for org, name, rev, conf in re.findall(
    'org="([^"]+)" name="([^"]+)" rev="([^"]+)".*?conf="([^-]+)-', module
):
    target = pattern.replace("(-[classifier])", "")
    for key, value in dict(conf=conf, artifact=name, revision=rev, ext="jar").items():
        target = target.replace("[" + key + "]", value)
    pathlib.Path(target).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(target).write_text(name)
    print("[SUCCESSFUL ] %s#%s;%s!%s.jar (1ms)" % (org, name, rev, name))
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine whose `java` plays Ivy: it writes the jars it is asked for, and no network."""
    import sys

    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(_IVY_SCRIPT.format(python=sys.executable, calls=str(tmp_path / "calls")))
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "jdk" / "release").write_text('JAVA_VERSION="17.0.1"')
    return {"PENSTOCK_HOME": str(tmp_path / "cache"), "JAVA_HOME": str(tmp_path / "jdk")}


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text().splitlines())


def test_the_catalog_names_every_jar_once_and_exactly() -> None:
    for name in ("spark", "broker", "connect"):
        coordinates = [str(one) for one in jars.group_of(name).coordinates]
        assert len(coordinates) == len(set(coordinates))
        assert not [one for one in coordinates if one.count(":") != 2 or "SNAPSHOT" in one]


def test_jars_are_fetched_once_and_then_taken_from_the_cache(
    environ: dict[str, str], tmp_path: Path
) -> None:
    seen: list[tuple[int, int, str]] = []
    paths = jars.classpath("spark", progress=lambda *step: seen.append(step), environ=environ)
    assert [path.name for path in paths] == [
        one.file_name for one in jars.group_of("spark", environ).coordinates
    ]
    assert all(path.is_file() for path in paths)
    assert seen[-1][:2] == (len(paths), len(paths))
    assert jars.classpath("spark", environ=environ) == paths
    assert calls(tmp_path) == 1


def test_several_groups_need_one_run_and_leave_no_scratch(
    environ: dict[str, str], tmp_path: Path
) -> None:
    jars.classpath("spark", "broker", progress=lambda *_: None, environ=environ)
    assert calls(tmp_path) == 1
    left = sorted(path.name.split("-")[0] for path in (tmp_path / "cache" / "jars").iterdir())
    assert left == ["broker", "fetch.lock", "spark"]


def test_a_damaged_group_is_fetched_again(environ: dict[str, str], tmp_path: Path) -> None:
    paths = jars.classpath("spark", progress=lambda *_: None, environ=environ)
    paths[0].unlink()
    jars.classpath("spark", progress=lambda *_: None, environ=environ)
    assert paths[0].is_file()
    assert calls(tmp_path) == 2


def _fetch(environ: dict[str, str]) -> None:
    jars.classpath("broker", progress=lambda *_: None, environ=environ)


def test_two_processes_fetch_once(environ: dict[str, str], tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_fetch, args=(environ,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(patient())
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert calls(tmp_path) == 1
    assert jars.group_of("broker", environ).complete


def test_a_missing_jar_is_named_with_what_to_do(environ: dict[str, str], tmp_path: Path) -> None:
    java = Path(environ["JAVA_HOME"]) / "bin" / "java"
    java.write_text("#!/bin/sh\necho ':: org.apache.commons#commons-pool2;2.12.1: not found'\n")
    with pytest.raises(
        SetupError, match=r"can't fetch org\.apache\.commons:commons-pool2:2\.12\.1"
    ) as caught:
        jars.classpath("spark", progress=lambda *_: None, environ=environ)
    assert "PENSTOCK_IVY_SETTINGS" in str(caught.value)
    assert not jars.group_of("spark", environ).directory.exists()


def test_the_users_ivy_settings_are_passed_on(tmp_path: Path) -> None:
    ivy = Ivy(Path("java"), Path("ivy.jar"), {"PENSTOCK_IVY_SETTINGS": "/my/settings.xml"})
    command = ivy._command(["spark"], tmp_path)
    assert command[command.index("-settings") + 1] == "/my/settings.xml"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, []),
        (
            {"https_proxy": "http://proxy.example:3128"},
            ["-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"],
        ),
        (
            {"HTTP_PROXY": "proxy.example"},
            ["-Dhttp.proxyHost=proxy.example", "-Dhttp.proxyPort=80"],
        ),
    ],
)
def test_proxies_of_the_environment_reach_java(
    environ: dict[str, str], expected: list[str]
) -> None:
    assert _proxy_options(environ) == expected


def test_an_unknown_group_lists_those_there_are() -> None:
    with pytest.raises(SetupError, match="'nonsense'; use one of spark, drivers, broker, connect"):
        jars.group_of("nonsense")


def test_pyspark_is_found_without_importing_it() -> None:
    assert (jars.pyspark_jars() / "py4j-0.10.9.9.jar").is_file()


def test_only_jars_with_a_jdbc_driver_are_taken_from_a_plugin_folder(tmp_path: Path) -> None:
    driver = tmp_path / "oracle" / "lib" / "ojdbc11.jar"
    driver.parent.mkdir(parents=True)
    for jar, entry in ((driver, "META-INF/services/java.sql.Driver"), (tmp_path / "x.jar", "X")):
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr(entry, "")
    (tmp_path / "broken.jar").write_bytes(b"no archive")
    assert jars.driver_jars([tmp_path, tmp_path / "absent"]) == [driver]


def test_a_coordinate_is_its_text() -> None:
    assert str(Coordinate.parse("a.b:c:1.0")) == "a.b:c:1.0"
    assert Coordinate.parse("a.b:c:1.0").file_name == "c-1.0.jar"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PENSTOCK_HOME": "/x/y"}, Path("/x/y")),
        ({"XDG_CACHE_HOME": "/c"}, Path("/c/penstock")),
        ({}, Path.home() / ".cache" / "penstock"),
    ],
)
def test_where_the_cache_is(environ: dict[str, str], expected: Path) -> None:
    assert cache_home(environ) == expected


def test_a_held_lock_ends_in_a_clear_error(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    begun = time.monotonic()
    with locked(lock, 1), pytest.raises(DeadlineExceededError, match="held"), locked(lock, 0.2):
        raise AssertionError("the lock was given twice")
    assert time.monotonic() - begun < patient(5)
    with locked(lock, 0.2):
        pass
