"""The contract of dialects: each one answers all of it, and nobody asks for one by name."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from penstock.connectors import jdbc
from penstock.connectors.jdbc import dialects
from penstock.connectors.jdbc.dialects import DIALECTS, Dialect
from penstock.connectors.jdbc.dialects.creating import Creating, NewColumn
from penstock.connectors.jdbc.dialects.faults import SqlFault
from penstock.connectors.jdbc.dialects.merging import Merge, WriteMode
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.kernel.data.schema import Schema, SchemaType
from penstock.kernel.errors import (
    ConfigError,
    DataError,
    PenstockError,
    RefusedError,
    RetriableError,
)

CONNECTORS = Path(jdbc.__file__).parents[1]
CONTRACT = Path(dialects.__file__).parent
#: The files of databases, and the one that registers them.
FILES = {inspect.getfile(each) for each in DIALECTS}
REGISTRY = CONTRACT / "registry.py"
PARTS = ("connecting_class", "reading_class", "creating_class", "merging_class")
AT = ColumnFacts("at", SqlType.TIMESTAMP, "timestamp", precision=23, scale=3)

every_dialect = pytest.mark.parametrize("kind", DIALECTS, ids=lambda kind: kind.__name__)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def classes_in(path: str) -> Iterator[type]:
    """The classes that a database's file defines."""
    for module in [each for each in sys.modules.values() if getattr(each, "__file__", "") == path]:
        for found in vars(module).values():
            if inspect.isclass(found) and found.__module__ == module.__name__:
                yield found


def test_every_dialect_is_registered() -> None:
    written = {
        node.name
        for path in CONTRACT.glob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Dialect" for base in node.bases)
    }
    assert written == {each.__name__ for each in DIALECTS}


def test_a_name_or_a_url_stands_for_one_dialect() -> None:
    claims = Counter(chain.from_iterable((*each.names, *each.schemes) for each in DIALECTS))
    assert [claim for claim, count in claims.items() if count > 1] == []
    assert all(each.names for each in DIALECTS)


@every_dialect
def test_parts_answer_what_the_contract_asks_and_nothing_else(kind: type[Dialect]) -> None:
    """A mistyped method would leave the standard's answer in place, and nobody would notice."""
    for own, contract in [
        (kind, Dialect),
        *((getattr(kind, part), getattr(Dialect, part)) for part in PARTS),
    ]:
        assert issubclass(own, contract)
        for name, found in vars(own).items():
            if name.startswith("_"):
                continue
            assert hasattr(contract, name), f"{own.__name__}.{name} is not in {contract.__name__}"
            if inspect.isfunction(found):
                wanted = inspect.signature(getattr(contract, name)).parameters
                assert list(inspect.signature(found).parameters) == list(wanted)


@every_dialect
def test_reading_answers(kind: type[Dialect]) -> None:
    reading = kind().reading
    assert "7" in reading.limited("SELECT 1 ORDER BY 1", 7)
    assert "SELECT" in reading.select_value("1")
    for sql_type in SqlType:
        assert "c" in reading.selected(ColumnFacts("c", sql_type)).sql
    texts = [
        reading.timestamp_micros("x", (AT,)),
        reading.comparable("x"),
        reading.timestamp_literal(0, (AT,)),
        reading.now(0, (AT,), "UTC"),
        reading.clock_micros(reading.now(5, (AT,), "UTC"), (AT,)),
    ]
    assert all(texts)


@every_dialect
def test_writing_answers(kind: type[Dialect]) -> None:
    dialect = kind()
    for schema in Creating.types:
        known = (
            Schema(schema)
            if isinstance(schema, SchemaType)
            else Schema(SchemaType.INT64, name=schema)
        )
        assert dialect.creating.column_type(NewColumn("c", known))
    columns = [NewColumn("c", Schema(SchemaType.INT32), key=True)]
    assert "T" in dialect.creating.create_table("T", columns)
    assert all("T" in text for text in dialect.creating.add_columns("T", columns))
    assert "S" in dialect.merging.create_staging("S", "T", columns, private=False)
    assert dialect.merging.staging_id(TableId("t", "s"), "stage").name == "stage"
    for mode in WriteMode:
        merge = Merge(mode, "TARGET", "STAGE", ("k",), ("a",), deletes=True)
        texts = dialect.merging.merge(merge)
        assert any("TARGET" in text and "STAGE" in text for text in texts)
    assert "S" in dialect.merging.drop_staging("S")
    assert "UPDATE" in dialect.explain("UPDATE t SET a = a")


@every_dialect
def test_connecting_answers(kind: type[Dialect]) -> None:
    for url in kind.example_urls or ("jdbc:other://host/x",):
        settings = ConnectionSettings(url, "me", isolation="READ_COMMITTED")
        connecting = kind().connecting
        assert connecting.properties(settings)["user"] == "me"
        options = connecting.spark_options(settings, "a.Driver")
        assert (options["driver"], options["user"]) == ("a.Driver", "me")
        assert connecting.fetch_size(settings, 100)
        driver = connecting.driver(settings)
        assert (driver is not None) == bool(kind.schemes)


@every_dialect
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (SqlFault("no such user", state="28000"), ConfigError),
        (SqlFault("gone", state="08006"), RetriableError),
        (SqlFault("a deadlock's victim", state="40001"), RetriableError),
        (SqlFault("in time", class_name="SQLTimeoutException"), RetriableError),
        (SqlFault("a duplicate", state="23505"), RefusedError),
        (SqlFault("too long", state="22001"), RefusedError),
        (SqlFault("no such table", state="42S02", code=1), DataError),
    ],
    ids=lambda given: getattr(given, "words", ""),
)
def test_faults_are_told_apart(
    kind: type[Dialect], fault: SqlFault, error: type[PenstockError]
) -> None:
    found = kind().faults.error(fault, "text")
    assert type(found) is error
    assert str(found) == "text"


def test_nobody_names_a_database() -> None:
    """What differs between databases is asked of the dialect, so a new one is one file."""
    names = {found.__name__ for file in FILES for found in classes_in(file)}
    named = [
        f"{path.relative_to(CONNECTORS)}:{node.lineno}"
        for path, node in nodes_outside()
        if {getattr(node, part, None) for part in ("id", "attr", "name")} & names
    ]
    assert len(names) > len(DIALECTS)
    assert named == []


def test_nobody_compares_the_name_of_a_database() -> None:
    claims = {claim for each in DIALECTS for claim in (*each.names, *each.schemes)}
    compared = [
        f"{path.relative_to(CONNECTORS)}:{node.lineno}"
        for path, node in nodes_outside()
        if isinstance(node, ast.Compare | ast.MatchValue)
        and any(isinstance(each, ast.Constant) and each.value in claims for each in ast.walk(node))
    ]
    assert compared == []


def nodes_outside() -> Iterator[tuple[Path, Any]]:
    """All that the connectors are made of, but for the files of databases and their registry."""
    for path in CONNECTORS.rglob("*.py"):
        if str(path) not in FILES and path != REGISTRY:
            yield from ((path, node) for node in ast.walk(tree(path)))


def test_each_room_imports_only_from_those_above_it() -> None:
    """The order is the one that the package's docstring has."""
    lines = str(jdbc.__doc__).split("\n\n")[2].splitlines()
    # A line that goes on has no room, only more words.
    rooms = [re.findall(r"\w+", line[:40]) for line in lines]
    level = {room: number for number, names in enumerate(rooms) for room in names}
    wrong = [
        f"{room} imports {other}"
        for room in level
        for other in imported_by(room)
        if other != room and level[other] >= level[room]
    ]
    assert {"settings", "dialects", "database", "source", "sink"} < level.keys()
    assert wrong == []


def imported_by(room: str) -> set[str]:
    """The rooms that the modules of a room import."""
    package = Path(jdbc.__file__).parent
    prefix = f"{jdbc.__name__}."
    return {
        str(node.module).removeprefix(prefix).partition(".")[0]
        for path in (package / f"{room}.py", *(package / room).rglob("*.py"))
        if path.exists()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(prefix)
    }
