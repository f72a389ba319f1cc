from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.ivy import Coordinate, Ivy
from penstock.machine.jars import _ivy_jar, classpath
from penstock.machine.java_home import JavaOrigin, find_java


def test_a_fresh_home_without_java_fetches_real_jars(tmp_path: Path) -> None:
    environ = {"PENSTOCK_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": ""}
    assert find_java(environ).origin is JavaOrigin.WHEEL
    for jar in classpath("spark", environ=environ):
        assert zipfile.is_zipfile(jar), jar


def test_a_version_that_does_not_exist_is_named(tmp_path: Path) -> None:
    ivy = Ivy(find_java().java, _ivy_jar(), {})
    wanted = {"some": [Coordinate("org.apache.kafka", "kafka-clients", "0.0.99")]}
    with pytest.raises(SetupError, match=r"can't fetch org\.apache\.kafka:kafka-clients:0\.0\.99"):
        ivy.retrieve(wanted, tmp_path, progress=lambda *_: None, timeout_seconds=60)
