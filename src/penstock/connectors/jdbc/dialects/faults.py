"""Classifies a database's errors: temporary ones, and faults of one row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.columns.java.exceptions import line_about
from penstock.kernel.errors import (
    ConfigError,
    DataError,
    PenstockError,
    RefusedError,
    RetriableError,
)

# Of every driver: the classes of java.sql, and what drivers call their own.
_LOST_CLASSES: Final = (
    *("java.sql.SQLTransientException", "java.sql.SQLRecoverableException"),
    "java.sql.SQLNonTransientConnectionException",
)
_LOST_NAMES: Final = ("Transient", "Recoverable", "Communications", "Timeout", "Connection")
_WRONG_ROW_WORDS: Final = (
    r"java\.sql\.(?:SQLIntegrityConstraintViolation|SQLData)Exception|DataTruncation: "
)
_DRIVER_CLASSES: Final = r"java\.sql\.\w+|\w+SQL\w*"


@dataclass(frozen=True, slots=True)
class SqlFault:
    """The fields of a java.sql.SQLException; empty for another exception.

    Attributes:
        code: the database's own number for it.
        class_name: the simple name of the exception's Java class.
    """

    words: str
    state: str = ""
    code: int = 0
    class_name: str = ""


@dataclass(frozen=True, slots=True)
class Faults:
    """The words of one database for its faults. SQLSTATEs mean the same to all of them.

    A statement fails with an exception that has a SQLSTATE and a code. A Spark job fails with a
    text, in which the executors' exceptions stand; the attributes `…_words` are expressions for it.

    Attributes:
        refused_states: the beginnings of SQLSTATEs with which the database refuses the login.
        lost_states: the same for a lost connection, lacking resources, a server that starts or
            stops, and a deadlock's victim: all of these pass.
        wrong_row_states: the same for a value that does not fit, a constraint, a limit, and for
            what triggers raise.
        wrong_row_codes: codes of such faults by SQLSTATE, where the state does not say it.
        lost_words: what a job's text says of a lost connection, besides the classes of java.sql.
        driver_classes: the names of the driver's exception classes, without `Exception`.
        wrong_row_words: which of those exceptions are about a row.
        row_words: the words before the number of a row, counted from 1, in what was loaded.
        no_right_words: what a database answers to who may not write to a table.
    """

    refused_states: tuple[str, ...] = ("28", "3D", "3F", "0P")
    lost_states: tuple[str, ...] = ("08", "53", "57P", "HYT", "S1T", "40")
    wrong_row_states: tuple[str, ...] = ("22", "23", "44", "45", "54", "P0001")
    wrong_row_codes: Mapping[str, frozenset[int]] = field(default_factory=dict)
    lost_words: str = ""
    driver_classes: str = ""
    wrong_row_words: str = ""
    row_words: str = ""
    no_right_words: str = "denied"

    def error(self, fault: SqlFault, text: str) -> PenstockError:
        """The error to raise for a statement that failed; `text` is what users read."""
        if fault.state.startswith(self.refused_states):
            return ConfigError(text)
        if fault.state.startswith(self.lost_states) or _is_passing(fault.class_name):
            return RetriableError(text)
        if self._is_wrong_row(fault):
            return RefusedError(text, self.row_in(fault.words))
        return DataError(text)

    def _is_wrong_row(self, fault: SqlFault) -> bool:
        if fault.state.startswith(self.wrong_row_states):
            return True
        return fault.code in self.wrong_row_codes.get(fault.state, ())

    def row_in(self, words: str) -> int | None:
        """The row that the database speaks of, counted from 0, in what it was given to load."""
        found = re.search(rf"(?:{self.row_words}) (\d+)\b", words) if self.row_words else None
        return None if found is None else int(found.group(1)) - 1

    def lost_in_job(self, text: str) -> str | None:
        """The message of a failed job about a lost database; None if the reason is another."""
        words = re.search(self.lost_words, text) if self.lost_words else None
        return words.group() if words else line_about(text, *_LOST_CLASSES)

    def refused_in_job(self, text: str) -> DataError | None:
        """The error for what the driver says in a failed job; None if it says nothing."""
        classes = "|".join(filter(None, (_DRIVER_CLASSES, self.driver_classes)))
        refused = re.search(rf"(?:{classes})Exception: .*", text)
        if refused is None:
            return None
        about_a_row = "|".join(filter(None, (_WRONG_ROW_WORDS, self.wrong_row_words)))
        kind = RefusedError if re.search(about_a_row, text) else DataError
        return kind(refused.group())

    def denies_right(self, error: DataError) -> bool:
        """Whether the database says that the user lacks a right."""
        return re.search(self.no_right_words, str(error)) is not None


def _is_passing(class_name: str) -> bool:
    return any(name in class_name for name in _LOST_NAMES)
