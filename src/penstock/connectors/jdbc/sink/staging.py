"""Staging tables: a batch waits in one until its transaction brings the target up to date."""

from __future__ import annotations

import re
import time
import uuid
from typing import Final

from penstock.connectors.jdbc.dialects.merging import Merge, WriteMode
from penstock.connectors.jdbc.sink.config import SinkConfig
from penstock.connectors.jdbc.sink.table_rows import TableRows, load_rows, new_columns
from penstock.connectors.jdbc.sink.target import Target
from penstock.kernel.errors import DataError, RetriableError

_PREFIX: Final = "penstock_stage_"
_NAME: Final = re.compile(_PREFIX + "([0-9a-f]{8})_[0-9a-f]{12}")
_DAY_SECONDS: Final = 86_400


def needs_staging(config: SinkConfig) -> bool:
    """Whether rows can't simply be added to the target."""
    return config.mode is not WriteMode.INSERT or config.delete_enabled


def stage(target: Target, rows: TableRows) -> Merge:
    """Load the rows into a staging table. Returns how to merge them."""
    merging, loader = target.dialect.merging, target.loader
    staging = target.dialect.qualified(merging.staging_id(rows.table, _new_name()))
    merge = _merge_into(target, rows, staging)
    columns = new_columns(rows.fields, target.value_rules)
    private = loader.in_transaction
    target.database.execute(merging.create_staging(staging, merge.target, columns, private=private))
    try:
        count = load_rows(target, rows, staging, staged=True)
        if not loader.in_transaction:
            _check_count(target, staging, count)
        for statement in merging.index_staging(merge):
            target.database.execute(statement)
    except BaseException:
        drop(target, staging)
        raise
    return merge


def merge_staged(target: Target, merge: Merge) -> None:
    """Bring the target up to date, inside a transaction."""
    for statement in target.dialect.merging.merge(merge):
        target.database.execute(statement)


def drop(target: Target, staging: str) -> None:
    """Drop a staging table; one that can't be dropped now is not worth a failure."""
    try:
        target.database.execute(target.dialect.merging.drop_staging(staging))
    except (DataError, RetriableError):
        target.database.close()  # A temporary one goes with its session.


def drop_forgotten(target: Target) -> None:
    """Drop staging tables that killed workers left behind more than a day ago."""
    for found in target.database.metadata.tables(name=f"{_PREFIX}%"):
        made = _NAME.fullmatch(found.id.name)
        if made and int(made.group(1), 16) < time.time() - _DAY_SECONDS:
            drop(target, target.dialect.qualified(found.id))


def _new_name() -> str:
    """A name with the time of its making, so that others know what was forgotten."""
    return f"{_PREFIX}{int(time.time()):x}_{uuid.uuid4().hex[:12]}"


def _merge_into(target: Target, rows: TableRows, staging: str) -> Merge:
    return Merge(
        target.config.mode,
        target.dialect.qualified(rows.table),
        staging,
        tuple(field.name for field in rows.fields if field.key),
        tuple(field.name for field in rows.fields if not field.key),
        deletes=target.config.delete_enabled,
    )


def _check_count(target: Target, staging: str, count: int) -> None:
    """Raise if rows are there twice: Spark may have run a task twice."""
    [(found,)] = target.database.query(f"SELECT COUNT(*) FROM {staging}")
    if int(found) != count:
        raise RetriableError(f"{staging}: {found} rows are there instead of {count}")
