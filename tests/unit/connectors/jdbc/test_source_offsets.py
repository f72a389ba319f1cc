"""Positions and the maps they are stored as."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.jdbc.source.config import Mode
from penstock.connectors.jdbc.source.positions import (
    OffsetForm,
    Position,
    check_offset,
    check_partition,
    older_partitions,
    table_partition,
)
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import DataError

BOTH = Mode.TIMESTAMP_INCREMENTING
YEARS = st.integers(-(10**16), 10**17)


def test_the_maps_of_the_modes() -> None:
    position = Position(1669701595817000, 42)
    time = {"timestamp_nanos": 817000000, "timestamp": 1669701595817}
    assert OffsetForm(Mode.INCREMENTING).offset(position) == {"incrementing": 42}
    assert OffsetForm(Mode.TIMESTAMP).offset(position) == time
    assert OffsetForm(BOTH).offset(position) == {**time, "incrementing": 42}


def test_what_java_left_is_understood() -> None:
    form = OffsetForm(BOTH)
    assert form.position({"timestamp": 1500, "incrementing": 7}) == Position(1_500_000, 7)
    # Nanoseconds are those of the second, the milliseconds included.
    precise = {"timestamp": 1500, "timestamp_nanos": 500_123_000}
    assert form.position(precise) == Position(1_500_123)
    assert form.position({"timestamp": -1, "timestamp_nanos": 999_000_000}) == Position(-1000)
    assert OffsetForm(Mode.INCREMENTING).position(precise | {"incrementing": 3}) == Position(
        number=3
    )


@given(micros=YEARS, number=st.integers(-(2**63), 2**63 - 1))
def test_a_position_survives_being_stored(micros: int, number: int) -> None:
    form = OffsetForm(BOTH)
    assert form.position(form.offset(Position(micros, number))) == Position(micros, number)


def test_a_wall_clock_is_stored_as_the_time_it_was() -> None:
    form = OffsetForm(Mode.TIMESTAMP, ZoneInfo("Europe/Berlin"))
    noon_in_summer = 1_625_140_800_000_000
    stored = form.offset(Position(noon_in_summer))
    assert stored == {"timestamp_nanos": 0, "timestamp": 1_625_133_600_000}
    assert form.position(stored) == Position(noon_in_summer)
    assert form.at(1_625_133_600_000) == Position(noon_in_summer)


@given(millis=st.integers(0, 4 * 10**12))
def test_going_on_in_another_time_zone_never_skips(millis: int) -> None:
    """Around the end of summer time a clock shows an hour twice: rather again than not at all."""
    form = OffsetForm(Mode.TIMESTAMP, ZoneInfo("Europe/Berlin"))
    assert form.offset(form.at(millis))["timestamp"] <= millis


@given(minutes=st.integers(-120, 120))
def test_a_time_that_clocks_skip_never_comes_back_as_a_later_one(minutes: int) -> None:
    """A table may have 02:10 of the day on which summer begins, or a chunk may end there."""
    form = OffsetForm(Mode.TIMESTAMP, ZoneInfo("Europe/Berlin"))
    two_in_the_morning = 1_616_896_800_000_000  # 2021-03-28
    position = Position(two_in_the_morning + minutes * 60_000_000)
    again = form.position(form.offset(position))
    assert again.micros is not None
    assert position.micros is not None
    assert again.micros <= position.micros
    assert again == position or 0 <= minutes < 60


def test_partitions() -> None:
    table = TableId("users", "public", "shop")
    assert table_partition(table) == {"protocol": "1", "table": "shop.public.users"}
    assert older_partitions(table) == [
        {"protocol": "1", "table": "public.users"},
        {"protocol": "1", "table": "users"},
        {"table": "users"},
    ]


@pytest.mark.parametrize(
    "offset",
    [
        {},
        {"position": 1},
        {"incrementing": "1"},
        {"incrementing": True},
        {"timestamp": 1.5},
        {"timestamp": 1, "timestamp_nanos": -1},
    ],
)
def test_offsets_that_are_none(offset: dict[str, object]) -> None:
    with pytest.raises(DataError):
        check_offset(offset)


@pytest.mark.parametrize(
    "partition", [{}, {"table": 1}, {"query": "x"}, {"table": "t", "protocol": "2"}]
)
def test_partitions_that_are_none(partition: dict[str, object]) -> None:
    with pytest.raises(DataError):
        check_partition(partition)


@pytest.mark.parametrize(
    ("position", "told"),
    [
        (Position(), "the beginning"),
        (Position(number=42), "behind number 42"),
        (Position(1_669_701_595_817_000), "behind 2022-11-29 05:59:55.817000"),
        (Position(0, 7), "behind 1970-01-01 00:00:00, number 7"),
        (Position(1 << 62), f"behind the moment {1 << 62} µs after 1970"),
    ],
)
def test_a_position_in_the_log(position: Position, told: str) -> None:
    assert str(position) == told
