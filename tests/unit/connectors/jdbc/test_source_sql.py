"""The SQL of the JDBC source, word for word."""

from __future__ import annotations

import pytest

from penstock.connectors.jdbc.dialects import Dialect, find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.source.config import ConfluentSourceConfig
from penstock.connectors.jdbc.source.limits import MOST_PARTS, Limits, cuts
from penstock.connectors.jdbc.source.ordering import Ordering
from penstock.connectors.jdbc.source.positions import Position
from penstock.connectors.jdbc.source.selection import is_selected, shared, tables_of, tables_text
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.kernel.config import Password

ID = ColumnFacts("id", SqlType.BIGINT)
AT = ColumnFacts("at", SqlType.TIMESTAMP, "timestamp", precision=23, scale=3)
MOMENT = 1_577_836_800_123_000


def dialect(scheme: str) -> Dialect:
    return find_dialect(ConnectionSettings(f"jdbc:{scheme}://host/x"))


MYSQL, POSTGRESQL, GENERIC = map(dialect, ("mysql", "postgresql", "oracle"))


def test_by_number() -> None:
    order = Ordering(MYSQL, "`x`.`t`", number=ID)
    assert order.after(Position(number=5)) == ["`id` > 5"]
    assert order.after(Position()) == ["`id` IS NOT NULL"]
    assert order.until(Position(number=9)) == ["`id` <= 9"]
    assert order.probe(Position(number=5), 100) == (
        "SELECT COUNT(*), MIN(num), MAX(num) FROM (SELECT `id` AS num FROM `x`.`t`"
        " WHERE `id` > 5 ORDER BY `id` LIMIT 100) penstock_window HAVING COUNT(*) > 0"
    )
    assert "LIMIT 7) penstock_window" in order.probe(Position(number=5), 100, "LIMIT 7")


@pytest.mark.parametrize(
    ("made_for", "expected"),
    [
        (MYSQL, "`at` < CURRENT_TIMESTAMP(3) - INTERVAL 2000000 MICROSECOND"),
        (
            POSTGRESQL,
            "\"at\" < (CURRENT_TIMESTAMP(3) AT TIME ZONE 'UTC') - INTERVAL '2000 milliseconds'",
        ),
        (GENERIC, "\"at\" < CURRENT_TIMESTAMP - INTERVAL '2.000' SECOND"),
    ],
)
def test_the_databases_own_clock_tells_what_is_old_enough(made_for: Dialect, expected: str) -> None:
    assert Ordering(made_for, "t", (AT,), delay_ms=2000).settled == [expected]


def test_by_time_and_number() -> None:
    order = Ordering(POSTGRESQL, "t", (AT,), ID)
    literal = "TIMESTAMP '2020-01-01 00:00:00.123000'"
    assert order.after(Position(MOMENT, 7)) == [
        f'"at" >= {literal}',
        f'("at" > {literal} OR ("at" = {literal} AND "id" > 7))',
    ]
    assert order.after(Position(MOMENT)) == [f'"at" >= {literal}']
    assert order.until(Position(MOMENT, 7)) == [
        f'"at" <= {literal}',
        f'("at" < {literal} OR ("at" = {literal} AND "id" <= 7))',
    ]
    assert order.order_by == 'ORDER BY "at", "id"'


@pytest.mark.parametrize(
    ("timestamps", "number", "position", "after", "before"),
    [
        ((), ID, Position(number=5), '"id" > 5', '"id" <= 5'),
        ((AT,), None, Position(0), '"at" > {}', '"at" <= {}'),
        ((AT,), ID, Position(0), '"at" >= {}', '"at" < {}'),
    ],
)
def test_two_parts_meet_without_gap_or_overlap(
    timestamps: tuple[ColumnFacts, ...],
    number: ColumnFacts | None,
    position: Position,
    after: str,
    before: str,
) -> None:
    order = Ordering(POSTGRESQL, "t", timestamps, number)
    literal = "TIMESTAMP '1970-01-01 00:00:00.000000'"
    assert order.after(position) == [after.format(literal)]
    assert order.before(position) == [before.format(literal)]


def test_of_several_times_the_first_counts() -> None:
    other = ColumnFacts("made`", SqlType.TIMESTAMP)
    order = Ordering(MYSQL, "t", (AT, other))
    assert order.order_by == "ORDER BY COALESCE(`at`, `made```)"


def test_before_1970() -> None:
    literal = MYSQL.reading.timestamp_literal(-1, (AT,))
    assert literal == "TIMESTAMP'1969-12-31 23:59:59.999999'"
    assert MYSQL.reading.timestamp_literal(-62_135_596_800_000_000, (AT,)) == (
        "TIMESTAMP'0001-01-01 00:00:00.000000'"
    )


def test_ranges_of_one_width() -> None:
    assert cuts(1, 100, 4) == [25, 50, 75]
    assert cuts(1, 2, 4) == [1]
    assert cuts(5, 5, 4) == []


@pytest.mark.parametrize(
    ("limits", "rows", "parts"),
    [
        (Limits(readers=2), 49_999, 1),
        (Limits(readers=2), 50_000, 2),
        (Limits(readers=2), 100_000, 10),
        (Limits(readers=2), 1_000_000, 10),
        (Limits(readers=4), 199_999, 4),
        (Limits(readers=4), 1_000_000, 20),
        (Limits(readers=1), 99_999, 1),
        (Limits(readers=1), 1_000_000, 10),
        # A part has no less than 10,000 rows.
        (Limits(readers=40), 1_000_000, 100),
        (Limits(readers=4, chunk_rows=60_000), 60_000, 4),
        (Limits(readers=2, chunk_rows=100_000_000), 100_000_000, MOST_PARTS),
    ],
)
def test_in_how_many_parts_a_chunk_is_read(limits: Limits, rows: int, parts: int) -> None:
    assert limits.parts(rows) == parts


def test_tables_are_shared_by_neighbours() -> None:
    tables = [TableId(name, None, "x") for name in "abcde"]
    assert [[t.name for t in group] for group in shared(tables, 2)] == [["a", "b", "c"], ["d", "e"]]
    assert len(shared(tables, 9)) == 5
    assert shared([], 3) == []
    odd = [TableId('a,"b', "ü", None)]
    assert tables_of(tables_text(odd)) == odd


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ({}, True),
        ({"table.whitelist": "Product, users"}, True),
        ({"table.whitelist": "shop.public.users"}, True),
        ({"table.whitelist": "public.users"}, True),
        ({"table.whitelist": "Users"}, False),
        ({"table.blacklist": "users"}, False),
        ({"table.include.list": r"shop\..*"}, True),
        ({"table.include.list": "users"}, False),
        ({"table.exclude.list": ".*users"}, False),
    ],
)
def test_which_tables_are_chosen(keys: dict[str, str], chosen: bool) -> None:
    config = ConfluentSourceConfig.parse(keys)
    assert is_selected(TableId("users", "public", "shop"), config) is chosen


@pytest.mark.parametrize(
    ("password", "text", "shown"),
    [
        ("x", "0x00 in x and 'x', password=x", "0x00 in x and 'x', password=[hidden]"),
        ("root", "no access for 'root'@'h'", "no access for 'root'@'h'"),
        ("a", "jdbc:mysql://a:a@a/a", "jdbc:mysql://a:[hidden]@a/a"),
        ("correct horse", "no such correct horse as horse", "no such [hidden] as horse"),
    ],
)
def test_short_passwords_are_hidden_by_their_place(password: str, text: str, shown: str) -> None:
    """Searched for, they would be found in other words, and told by what is missing there."""
    settings = ConnectionSettings("jdbc:mysql://h/db", "u", Password(password))
    assert settings.hide(text) == shown


def test_urls_for_spark_and_people() -> None:
    url = "jdbc:mariadb://root:s3cret@db:3306/shop?useSsl=true&password=s3cret"
    settings = ConnectionSettings(url)
    assert dialect("mariadb").connecting.spark_url(settings) == (
        "jdbc:mysql://root:s3cret@db:3306/shop?useSsl=true&password=s3cret&permitMysqlScheme=true"
    )
    assert settings.place == "jdbc:mariadb://root:[hidden]@db:3306/shop"
    assert "s3cret" not in settings.hide(url)
    assert settings.database == "shop"
    assert ConnectionSettings("jdbc:sqlite:/data/x.db").database == "/data/x.db"
