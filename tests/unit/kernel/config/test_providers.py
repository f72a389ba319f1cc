from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from penstock.kernel.config.providers import resolver
from penstock.kernel.errors import ConfigError

JAVA = "org.apache.kafka.common.config.provider"
ENV = {"config.providers": "env", "config.providers.env.class": f"{JAVA}.EnvVarConfigProvider"}
FILE = {"config.providers": "file", "config.providers.file.class": f"{JAVA}.FileConfigProvider"}
DIRECTORY = {
    "config.providers": "dir",
    "config.providers.dir.class": f"{JAVA}.DirectoryConfigProvider",
}


class Upper:
    """A provider as a user would write it: constructed with its params."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self._suffix = params["suffix"]

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        return {name: f"{path}{name}".upper() + self._suffix for name in keys}


def test_environment_variables() -> None:
    made = resolver(ENV, {"USER": "u", "PASS": "p"})
    assert made.resolve({"a": "${env:USER}:${env:PASS}!", "b": "${env:NONE}", "c": "${x:y}"}) == {
        "a": "u:p!",
        "b": "${env:NONE}",
        "c": "${x:y}",
    }


@pytest.mark.parametrize("name", ["vault", "Vault", "secretManager"])
def test_what_looks_like_a_secret_of_a_provider_is_no_literal(name: str) -> None:
    text = f"${{{name}:secret/db:password}}"
    told = resolver({}, {}).missing({"p": text})["p"]
    assert told == (
        f"Invalid value {text} for configuration p: the worker has no config provider {name}; its "
        f"properties need the lines config.providers={name} and "
        f"config.providers.{name}.class=MODULE.CLASS, a provider in Python"
    )


@pytest.mark.parametrize(
    ("providers", "listed"), [({}, "env"), (FILE, "file,env")], ids=["none", "another"]
)
def test_a_provider_that_is_not_there_is_named(providers: dict[str, str], listed: str) -> None:
    """Otherwise a database gets the reference for a password."""
    made = resolver(providers, {"X": "x"})
    text = (
        "Invalid value ${env:X} for configuration p: the worker has no config provider env; its "
        f"properties need the lines config.providers={listed} and "
        f"config.providers.env.class={JAVA}.EnvVarConfigProvider"
    )
    props = {"p": "a${env:X}", "topic": "${topic}", "other": "${ours:x}"}
    assert made.missing(props) == {"p": text}
    with pytest.raises(ConfigError) as caught:
        made.resolve(props)
    assert str(caught.value) == text
    given = {**providers, **ENV, "config.providers": listed}
    assert resolver(given, {"X": "x"}).resolve(props) == {**props, "p": "ax"}


def test_only_allowed_variables() -> None:
    props = {**ENV, "config.providers.env.param.allowlist.pattern": "DB_.*"}
    made = resolver(props, {"DB_USER": "u", "HOME": "h"})
    assert made.resolve({"a": "${env:DB_USER}${env:HOME}"}) == {"a": "u${env:HOME}"}


def test_a_properties_file(tmp_path: Path) -> None:
    file = tmp_path / "secrets.properties"
    file.write_text("user=u\npassword=p:1\n")
    text = f"${{file:{file}:user}}/${{file:{file}:password}}/${{file:{file}:none}}"
    assert resolver(FILE, {}).resolve({"a": text}) == {"a": f"u/p:1/${{file:{file}:none}}"}


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Could not read properties from file"):
        resolver(FILE, {}).resolve({"a": f"${{file:{tmp_path}/none:user}}"})


def test_the_files_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "password").write_text("p\n")
    (tmp_path / "outside").write_text("o")
    text = f"${{dir:{tmp_path}/secrets:password}}${{dir:{tmp_path}/secrets:../outside}}"
    found = resolver(DIRECTORY, {}).resolve({"a": text})
    assert found == {"a": f"p\n${{dir:{tmp_path}/secrets:../outside}}"}


def test_paths_outside_the_allowed_ones_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text("k=in")
    (tmp_path / "f").write_text("k=out")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "f")
    made = resolver({**FILE, "config.providers.file.param.allowed.paths": f"{tmp_path}/in"}, {})
    outside = [f"{tmp_path}/f", f"{tmp_path}/in/../f", f"{tmp_path}/in/link"]
    for path in outside:
        assert made.resolve({"a": f"${{file:{path}:k}}"}) == {"a": f"${{file:{path}:k}}"}
    assert made.resolve({"a": f"${{file:{tmp_path}/in/f:k}}"}) == {"a": "in"}


@pytest.mark.parametrize(("path", "text"), [("in", "not absolute"), ("/no/such", "not exist")])
def test_allowed_paths_are_checked(path: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        resolver({**FILE, "config.providers.file.param.allowed.paths": path}, {})


def test_a_provider_written_in_python() -> None:
    props = {
        "config.providers": "up",
        "config.providers.up.class": f"{__name__}.Upper",
        "config.providers.up.param.suffix": "!",
    }
    assert resolver(props, {}).resolve({"a": "${up:p:k}"}) == {"a": "PK!"}


def test_a_provider_without_or_with_an_unknown_class() -> None:
    with pytest.raises(ConfigError, match=r"config\.providers\.x\.class is missing"):
        resolver({"config.providers": "x"}, {})
    with pytest.raises(ConfigError, match=r"no\.such\.Class can't be loaded"):
        resolver({"config.providers": "x", "config.providers.x.class": "no.such.Class"}, {})
