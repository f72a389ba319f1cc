"""Arrow batches as the text that bulk loads read."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from penstock.connectors.jdbc.sink.text_rows import text_rows


def rows(*columns: pa.Array) -> str:
    batch = pa.RecordBatch.from_arrays(list(columns), names=[f"c{n}" for n in range(len(columns))])
    return bytes(text_rows(batch)).decode()


def test_rows() -> None:
    assert rows(pa.array([1, 2]), pa.array(["a", "é😀"])) == "1\ta\n2\té😀\n"


def test_a_null_is_not_an_empty_text() -> None:
    assert rows(pa.array([None, "", "\\N"]), pa.array([None, 1, 2])) == "\\N\t\\N\n\t1\n\\\\N\t2\n"


def test_what_separates_is_escaped() -> None:
    assert rows(pa.array(["a\tb\nc\rd\\e", "plain"])) == "a\\tb\\nc\\rd\\\\e\nplain\n"


def test_dates_and_numbers() -> None:
    moment = pa.array([datetime(1583, 1, 1, 1, 2, 3, 4)], pa.timestamp("us"))  # noqa: DTZ001
    number = pa.array([Decimal("-12345678901234567890123456789012345.678")], pa.decimal128(38, 3))
    assert rows(pa.array([date(1, 2, 3)]), moment, number, pa.array([0.1], pa.float32())) == (
        "0001-02-03\t1583-01-01 01:02:03.000004\t-12345678901234567890123456789012345.678\t0.1\n"
    )


def test_a_slice_has_its_own_rows_only() -> None:
    whole = pa.RecordBatch.from_arrays([pa.array(["a", "b\t", "c"])], names=["c"])
    assert bytes(text_rows(whole.slice(1, 1))) == b"b\\t\n"
    assert bytes(text_rows(whole.slice(0, 0))) == b""
