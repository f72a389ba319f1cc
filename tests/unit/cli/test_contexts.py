"""Contexts: written, shown, chosen."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path

import pytest

from penstock.cli.context_file import save
from penstock.cli.target import Contexts, Target
from penstock.kernel.errors import ConfigError
from tests.unit.cli.run import penstock
from tests.unit.tools.client.server import serving


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "penstock" / "config.toml"
    monkeypatch.setenv("PENSTOCK_CONFIG", str(path))
    monkeypatch.delenv("PENSTOCK_CONTEXT", raising=False)
    return path


def ok(*arguments: str) -> str:
    done = penstock(*arguments)
    assert done.status == 0, done
    return done.out


def test_the_life_of_contexts(file: Path) -> None:
    assert "There are no contexts" in ok("context", "list")
    # A cluster that is only named is not yet the one that commands are for.
    told = ok("context", "set", "local", "--connect", "http://l:8083", "-b", "l:9092")
    assert told == f"context local is saved in {file}\n"
    assert Contexts.load().current is None
    told = ok("context", "set", "local", "--use")
    assert told == f"context local is saved in {file} and is current\n"
    ok(
        *("context", "set", "prod.eu", "--connect", "https://p", "--user", "ops"),
        *("--password", "${env:PW}", "--bootstrap-servers", "k1:9092,k2:9092"),
        *("--kafka", "security.protocol=SSL", "--kafka", "ssl.key.password=geheim"),
        *("--registry", "schema.registry.url=http://r:8081"),
    )
    assert json.loads(ok("context", "list", "-o", "json")) == [
        {"current": True, "name": "local", "connect": "http://l:8083",
         "bootstrap_servers": "l:9092"},
        {"current": False, "name": "prod.eu", "connect": "https://p",
         "bootstrap_servers": "k1:9092,k2:9092"},
    ]  # fmt: skip
    assert ok("context", "use", "prod.eu") == "the current context is prod.eu\n"
    shown = ok("context", "show")
    assert "prod.eu" in shown
    assert "${env:PW}" in shown
    assert "geheim" not in shown
    assert "l:9092" in ok("context", "show", "local")
    assert "no current one now" in ok("context", "delete", "prod.eu")
    assert Contexts.load().current is None
    assert list(Contexts.load().known) == ["local"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_settings_are_changed_one_by_one(file: Path) -> None:
    ok("context", "set", "a", "--connect", "http://a", "--user", "x", "--kafka", "k=1")
    ok("context", "set", "a", "--user", "", "--kafka", "j=2", "--kafka", "k=")
    known = tomllib.loads(file.read_text())["contexts"]["a"]
    assert known == {"connect": "http://a", "kafka": {"j": "2"}}


def test_a_password_in_clear_is_remarked_upon_but_not_shown() -> None:
    done = penstock("context", "set", "a", "--user", "x", "--password", "geheim")
    assert done.status == 0
    assert "The password is stored in clear" in done.words
    assert "geheim" not in done.words
    assert "geheim" not in ok("context", "show", "a")


def test_a_variable_need_not_be_set_where_a_context_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ok("context", "set", "a", "--password", "${env:NOT_THERE}", "--use")
    with pytest.raises(ConfigError, match="the variable NOT_THERE is not set"):
        Target.of()
    monkeypatch.setenv("NOT_THERE", "geheim")
    assert Target.of().context.texts["password"] == "geheim"


@pytest.mark.parametrize("verb", ["use", "show", "delete"])
def test_one_that_is_not_there(verb: str) -> None:
    ok("context", "set", "a", "--connect", "http://a")
    done = penstock("context", verb, "none")
    assert done.status == 1
    assert "there is no context none" in done.words
    assert "there are: a" in done.words


def test_no_current_one() -> None:
    assert penstock("context", "show").status == 1


def test_wrong_settings_are_refused(file: Path) -> None:
    done = penstock("context", "set", "a", "--kafka", "nonsense")
    assert done.status == 2
    assert "--kafka needs KEY=VALUE" in done.words
    assert not file.exists()


def test_texts_of_all_kinds_come_back(file: Path) -> None:
    odd = {'a "b"\\': {"connect": 'q"\\\n\t\x7fü', "kafka": {"a.b": "1", "c d": ""}}}
    save(file, 'a "b"\\', odd)
    found = Contexts.load(file)
    assert found.known == odd
    assert found.current == 'a "b"\\'


def test_a_file_that_cant_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="can't be written"):
        save(tmp_path / "file" / "config.toml", None, {})


def test_passwords_stay_with_the_addresses_of_their_context(tmp_path: Path) -> None:
    ok(
        *("context", "set", "a", "--connect", "http://a", "--user", "ops", "--password", "geheim"),
        *("-b", "a:9092", "--kafka", "sasl.jaas.config=geheim", "--use"),
    )
    elsewhere = Target.of("http://b", servers="b:9092")
    assert elsewhere.login == {}
    assert elsewhere.kafka() == {"bootstrap.servers": "b:9092"}
    other = tmp_path / "client.properties"
    other.write_text("bootstrap.servers=b:9092\n")
    assert Target.of(command_config=other).kafka() == {"bootstrap.servers": "b:9092"}
    for own in (
        Target.of(),
        Target.of("http://a", servers="a:9092"),
        Target.of("http://b", "a", "b:9092"),
    ):
        assert own.login["password"] == "geheim"
        assert own.kafka()["sasl.jaas.config"] == "geheim"


@pytest.mark.parametrize("text", ["current = 5", 'contexts = "a"', "contexts = 5"])
def test_a_file_of_another_form_is_refused(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"expected current = .* and tables"):
        Contexts.load()


def test_the_variable_tells_which_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("context", "set", "a", "--connect", "http://u:geheim@a", "--use")
    ok("context", "set", "b", "--connect", "http://b")
    monkeypatch.setenv("PENSTOCK_CONTEXT", "b")
    assert "http://b" in ok("context", "show")
    listed = ok("context", "list")
    assert "*        b" in listed
    assert "geheim" not in listed


def test_commands_use_the_context() -> None:
    ok("context", "set", "a", "--connect", "http://127.0.0.1:1", "--use")
    ok("context", "set", "b", "--connect", "http://127.0.0.1:2")
    assert "http://127.0.0.1:1" in penstock("get").words
    assert "http://127.0.0.1:2" in penstock("get", "--context", "b").words
    assert "http://127.0.0.1:3" in penstock("get", "--connect", "http://127.0.0.1:3").words
    done = penstock("get", "--context", "none")
    assert done.status == 2
    assert "there is no context none" in done.words


def test_a_token_for_secrets_goes_with_every_request() -> None:
    with serving((200, [])) as server:
        ok("context", "set", "a", "--connect", server.url, "--secrets-token", "t0ken", "--use")
        assert "t0ken" not in ok("context", "show", "-o", "json")
        with Target.of().client() as client:
            client.connectors()
        # Another address does not get it.
        with Target.of(server.url + "/").client() as client:
            client.connectors()
    sent = [each.headers.get("penstock-secrets-token") for each in server.asked]
    assert sent == ["t0ken", None]
