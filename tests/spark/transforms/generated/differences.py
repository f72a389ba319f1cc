"""Where transformations differ from Kafka Connect's on purpose: the one table.

Each difference makes the two results comparable again, and nothing else does. Running this module
prints docs/transform-differences.md.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Final

from penstock.kernel.data.schema import DATE, Schema, Struct
from penstock.kernel.java.numbers import to_float32
from tests.spark.converters.comparing import difference
from tests.spark.transforms.generated.sides import Result
from tests.spark.transforms.generated.trial import Record, Trial

Pair = tuple[Result, Result]


@dataclass(frozen=True, slots=True)
class Difference:
    """`apply` gets (theirs, ours) and returns them with this one difference taken away."""

    what: str
    why: str
    apply: Callable[[Trial, Record, Result, Result], Pair]


_SIDES: Final = ("key", "value")


# What shows in a chain whether null has a schema, and which one.
_OF_SCHEMA: Final = (
    "Unknown field: ",
    "Cannot list fields on non-struct type",
    "Cannot look up fields on non-struct type",
)


_NULL_AS: Final = re.compile(
    r"^Only (Struct objects supported|Map objects supported in absence of schema)"
    r"(?= for .*, found: null$)"
)


def _null_schemas(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    for side in _SIDES:
        if theirs.get(side, "") is None and ours.get(side, "") is None:
            ours = {**ours, f"{side}_schema": theirs[f"{side}_schema"]}
    texts = [str(each.get("error")) for each in (theirs, ours)]
    if len(trial.stages) > 1 and len({_NULL_AS.sub("", text) for text in texts}) == 1:
        return theirs, {**ours, **({"error": theirs["error"]} if "error" in theirs else {})}
    failed, passed = (theirs, ours) if "error" in theirs else (ours, theirs)
    asked = str(failed.get("error")).startswith(_OF_SCHEMA)
    if len(trial.stages) > 1 and asked and any(passed.get(side, "") is None for side in _SIDES):
        return theirs, theirs
    return theirs, ours


def _plain_numbers(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del trial, record

    def plain(result: Result) -> Result:
        bare = [side for side in _SIDES if side in result and result[f"{side}_schema"] is None]
        return result | {side: _without_width(result[side]) for side in bare}

    return plain(theirs), plain(ours)


def _without_width(node: Any) -> Any:
    if not isinstance(node, list):
        return node
    match node:
        case [str(tag), str(text)] if tag.startswith("INT"):
            return ["NUMBER", int(text)]
        case ["FLOAT32", str(bits)]:
            return _number(struct.unpack(">f", struct.pack(">i", int(bits)))[0])
        case ["FLOAT64", str(bits)]:
            return _number(struct.unpack(">d", struct.pack(">q", int(bits)))[0])
    return [_without_width(each) for each in node]


def _number(value: float) -> list[Any]:
    return ["NUMBER", int(value) if value.is_integer() else value]


def _positive_zeros(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    bare = (record.key, trial.key_schema), (record.value, trial.value_schema)
    if any(schema is None and _has_negative_zero(value) for value, schema in bare):
        return _with_zeros(theirs), _with_zeros(ours)
    return theirs, ours


def _has_negative_zero(node: Any) -> bool:
    match node:
        case float():
            return node == 0 and math.copysign(1, node) < 0
        case dict():
            return any(map(_has_negative_zero, node.values()))
        case list():
            return any(map(_has_negative_zero, node))
    return False


def _with_zeros(result: Result) -> Result:
    """The result with the text that Cast makes of 0.0 for the one it makes of -0.0."""

    def changed(node: Any) -> Any:
        if node == ["STRING", "-0.0"]:
            return ["STRING", "0.0"]
        return [changed(each) for each in node] if isinstance(node, list) else node

    return result | {side: changed(result[side]) for side in _SIDES if side in result}


_INTERNAL: Final = ("java.lang.NullPointerException", "java.lang.ClassCastException")


def _internal_errors(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del trial, record
    if theirs.get("class") in _INTERNAL and "error" in ours:
        return theirs, {**ours, "error": theirs["error"]}
    return theirs, ours


def _map_classes(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    flattened = any(stage.transform.name.startswith("Flatten") for stage in trial.stages[:-1])
    if not flattened or "error" not in theirs:
        return theirs, ours
    error = str(theirs["error"])
    return {**theirs, "error": error.replace("java.util.Linked", "java.util.")}, ours


_NULL_FOR_REQUIRED: Final = "Invalid value: null used for required field"


def _nulls_pass(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    if not str(theirs.get("error")).startswith(_NULL_FOR_REQUIRED) or "raised" in ours:
        return theirs, ours
    parts = (trial.key_schema, record.key), (trial.value_schema, record.value)
    bad = any(starmap(_has_bad_null, parts)) or any(_hoisted_nulls(trial, record))
    return theirs, theirs if bad or _read_elsewhere(trial, str(theirs["error"])) else ours


def _read_elsewhere(trial: Trial, error: str) -> bool:
    """Whether the field is one that has the new name of another: Java reads that one for both."""
    settings = [stage.transform.config.get("renames", "") for stage in trial.stages]
    targets = [pair.partition(":")[2] for text in settings for pair in text.split(",")]
    return any(f'"{target}"' in error for target in targets if target)


def _has_bad_null(schema: Schema | None, value: Any) -> bool:
    """Whether a null is inside of the value where its schema allows none."""
    match schema, value:
        case Schema(), Struct():
            inside = [(field.schema, value.values.get(field.name)) for field in schema.fields]
        case Schema(), list() | dict() if schema.value_schema is not None:
            items = value.values() if isinstance(value, dict) else value
            inside = [(schema.value_schema, item) for item in items]
        case _:
            return False
    return any(
        not each.optional if item is None else _has_bad_null(each, item) for each, item in inside
    )


def _rival_names(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    # In chains no two fields get one name.
    transform = trial.stages[0].transform
    name, _, suffix = transform.name.partition("$")
    side = suffix.lower()
    given = getattr(record, side, None)
    if name != "ReplaceField" or len(trial.stages) > 1:
        return theirs, ours
    pairs = transform.config.get("renames", "").split(",")
    renames = dict(pair.split(":") for pair in pairs if pair)
    if len(set(renames.values())) < len(renames) and isinstance(given, Struct):
        return theirs, ours if "raised" in ours else theirs
    if not isinstance(given, dict):
        return theirs, ours
    ends = Counter(str(renames.get(old, old)) for old in given)
    rivals = {end for end, count in ends.items() if count > 1}
    return _without_entries(theirs, side, rivals), _without_entries(ours, side, rivals)


def _without_entries(result: Result, side: str, names: set[str]) -> Result:
    match result.get(side):
        case ["MAP", entries]:
            kept = [entry for entry in entries if entry[0][1] not in names]
            return {**result, side: ["MAP", kept]}
    return result


def _header_texts(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    """The same characters, in whatever order, and equal numbers."""
    del record
    if not any(stage.transform.name.startswith("HeaderFrom") for stage in trial.stages):
        return theirs, ours
    return theirs, _equated(theirs, ours, lambda raw: sorted(_with_numbers(raw, float)))


def _short_numbers(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    if all(stage.transform.name != "InsertHeader" for stage in trial.stages):
        return theirs, ours
    return theirs, _equated(theirs, ours, lambda raw: _with_numbers(raw, _single))


def _equated(theirs: Result, ours: Result, read: Callable[[bytes], object]) -> Result:
    """Ours, with their headers where both are read as the same."""
    both = theirs.get("headers", []), ours.get("headers", [])
    if not both[0] or len(both[0]) != len(both[1]):
        return ours

    def value(header: list[str | None]) -> object:
        return None if header[1] is None else read(bytes.fromhex(header[1]))

    pairs = zip(*both, strict=True)
    same = [their if value(their) == value(our) else our for their, our in pairs]
    return {**ours, "headers": same}


def _with_numbers(raw: bytes, read: Callable[[bytes], float]) -> bytes:
    return _NUMBER.sub(lambda found: b"%r" % (read(found[0]) + 0.0), raw)


def _single(text: bytes) -> float:
    return to_float32(float(text))


_NUMBER: Final = re.compile(rb"-?[0-9]+(\.[0-9]+)?(E-?[0-9]+)?")


def _hoisted_null(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    for side, field in _hoisted_nulls(trial, record):
        if len(trial.stages) > 1 and "raised" not in ours:
            # Other stages make something else of a struct than of a map.
            return theirs, theirs
        if record.offset is not None:
            ours = _with_hoisted_map(field, side, theirs, ours)
    return theirs, ours


def _hoisted_nulls(trial: Trial, record: Record) -> Iterator[tuple[str, str]]:
    """Where HoistField gets null: the side, and the field that it makes."""
    for stage in trial.stages:
        name, _, suffix = stage.transform.name.partition("$")
        side = suffix.lower()
        if name == "HoistField" and getattr(record, side) is None:
            yield side, stage.transform.config["field"]


def _with_hoisted_map(field: str, side: str, theirs: Result, ours: Result) -> Result:
    hoisted = ["MAP", [[["STRING", field], None]]], ["STRUCT", [[field, None]]]
    if (theirs.get(side), ours.get(side)) != hoisted:
        return ours
    return {**ours, side: theirs[side], f"{side}_schema": theirs[f"{side}_schema"]}


_DAY: Final = 86_400_000
_LAST_MILLIS: Final = 2**63 - 1


def _far_dates(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    targets = {stage.transform.config.get("target.type") for stage in trial.stages}
    if "Date" not in targets:
        return theirs, ours
    far: Result = {side: _nearer(theirs[side], ours.get(side)) for side in _SIDES if side in theirs}
    return {**theirs, **far}, ours


def _nearer(their: Any, our: Any) -> Any:
    """Their data with our dates instead of those that an int of days can't tell."""
    match their, our:
        case ["DATE", str(text)], ["DATE", str()]:
            days = int(text) // _DAY
            # At the very end Java's own numbers don't suffice.
            wrapped = (days + 2**31) % 2**32 - 2**31
            same = our[1] == str(wrapped * _DAY) or abs(int(text)) > _LAST_MILLIS - 2 * _DAY
            return our if abs(days) >= 2**31 and same else their
        case list(), list() if len(their) == len(our):
            return [_nearer(*pair) for pair in zip(their, our, strict=True)]
    return their


_TOO_FAR: Final = "Data without a schema can't hold a timestamp so far from 1970: "
_MICROS_SUFFICE: Final = _LAST_MILLIS // 1000 - _DAY


def _far_moments(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del trial, record
    refused, _, millis = str(ours.get("error")).partition(_TOO_FAR)
    if not refused and millis and abs(int(millis)) > _MICROS_SUFFICE:
        return theirs, theirs
    return theirs, ours


def _misfit_decimals(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    masked = any(stage.transform.name.startswith("MaskField") for stage in trial.stages)
    if masked and re.match("Replacement .* is not a Decimal of scale", str(ours.get("error"))):
        return theirs, theirs
    return theirs, ours


def _cast_moments(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del record
    for stage in trial.stages:
        name, _, suffix = stage.transform.name.partition("$")
        if name == "Cast" and stage.transform.config["spec"] in ("int32", "int64"):
            side = suffix.lower()
            theirs = {**theirs, **_as_moment(side, theirs, ours)}
    return theirs, ours


def _as_moment(side: str, theirs: Result, ours: Result) -> Result:
    """Their number as the moment that its schema says it is, if ours is that moment."""
    match theirs.get(side), theirs.get(f"{side}_schema"), ours.get(side):
        case [("INT32" | "INT64"), str(number)], {"name": str(name)}, ["DATE", str(millis)]:
            unit = _DAY if name == DATE else 1
            return {side: ["DATE", millis]} if int(number) * unit == int(millis) else {}
    return {}


_ALIAS: Final = re.compile(r"^(transforms|predicates)\.[^:]+: ")


def _aliases(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del trial, record
    if "refused" in theirs and "refused" in ours:
        return theirs, {**ours, "refused": _ALIAS.sub("", str(ours["refused"]))}
    return theirs, ours


_NO_TIMESTAMP: Final = "Timestamp missing on record: "


def _short_record(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    del trial, record
    texts = str(theirs.get("error")), str(ours.get("error"))
    if all(text.startswith(_NO_TIMESTAMP) for text in texts):
        return theirs, {**ours, "error": theirs["error"]}
    return theirs, ours


def _error_classes(trial: Trial, record: Record, theirs: Result, ours: Result) -> Pair:
    """Theirs is the class of the exception, ours that of the transformation: nothing to compare."""
    del trial, record
    return _without_class(theirs), _without_class(ours)


def _without_class(result: Mapping[str, Any]) -> Result:
    return {name: each for name, each in result.items() if name != "class"}


DIFFERENCES: Final = (
    Difference(
        "A record without a key or value has the schema of the records around it.",
        "In Kafka Connect it has none, or keeps the one from before the transformation. Rows of one"
        " frame have one type; nulls fit every one.",
        _null_schemas,
    ),
    Difference(
        "Numbers without a schema have no width: `1` and `1.0` are the same number.",
        "They are JSON's numbers in a VARIANT (decision 008).",
        _plain_numbers,
    ),
    Difference(
        "`-0.0` without a schema is `0.0`, which shows when Cast makes a text of it.",
        "Spark's parser of JSON keeps fractions as decimals, which have no such number.",
        _positive_zeros,
    ),
    Difference(
        "Where Kafka Connect fails by a NullPointerException or a ClassCastException, the record "
        "fails with a text that says why.",
        "Java's text speaks of its own code.",
        _internal_errors,
    ),
    Difference(
        "Errors name each map without a schema a `java.util.HashMap`.",
        "What Flatten makes is a LinkedHashMap in Kafka Connect, which only the texts of errors"
        " in later transformations tell.",
        _map_classes,
    ),
    Difference(
        "A null in a field that is not optional passes.",
        "No converter makes such a record, and converters and sinks refuse it. Kafka Connect's "
        "transformations do so too, if they copy the field.",
        _nulls_pass,
    ),
    Difference(
        "ReplaceField with several fields that get one name: in a map the last one by its old name "
        "stays, in a struct the last one in the settings.",
        "In Kafka Connect it is the last one in the order of their hashes.",
        _rival_names,
    ),
    Difference(
        "HeaderFrom writes the entries of a map in the order they have, those of one without a "
        "schema by name, and numbers without a schema as `1` where Kafka Connect writes `1.0`.",
        "Java's maps have the order of their hashes; for numbers see decision 008.",
        _header_texts,
    ),
    Difference(
        "InsertHeader writes floating point numbers with no more digits than they need.",
        "So does Java since version 19; older ones write more for a few numbers.",
        _short_numbers,
    ),
    Difference(
        "HoistField puts a tombstone, too, into the struct of the records around it.",
        "Kafka Connect makes a map of it, as it has no schema. Rows of one frame have one type.",
        _hoisted_null,
    ),
    Difference(
        "TimestampConverter makes of a moment that is more than 2,147,483,647 days from 1970 a Date"
        " that is too near.",
        "It is the one that Kafka Connect's converters, too, write for such a Date: Dates are kept"
        " as days in an int. In between, Kafka Connect has objects that hold more.",
        _far_dates,
    ),
    Difference(
        "TimestampConverter refuses to put a moment that is more than 292,000 years from 1970 into"
        " data without a schema.",
        "It is a timestamp in a VARIANT there, and Spark counts its microseconds in a long.",
        _far_moments,
    ),
    Difference(
        "MaskField refuses a replacement that a Decimal of 38 digits and the schema's scale "
        "can't be.",
        "Kafka Connect's converters refuse another scale than the schema's; 38 digits are what"
        " Spark has room for (decision 008).",
        _misfit_decimals,
    ),
    Difference(
        "Cast of a whole Timestamp to int64, or of a Date or Time to int32, leaves it a moment.",
        "Its schema says so. In Kafka Connect it is a number then, under the same schema, and "
        "converters refuse it.",
        _cast_moments,
    ),
    Difference(
        "Errors in the settings of a transformation or predicate begin with its alias.",
        "A chain may have several of one class.",
        _aliases,
    ),
    Difference(
        "TimestampRouter tells topic and partition of a record without a timestamp, and no more.",
        "Kafka Connect shows the whole record, with all of its data, in the error.",
        _short_record,
    ),
)


#: What shows only after the transformations.
AFTERWARDS: tuple[tuple[str, str], ...] = (
    (
        "A date, time or timestamp that TimestampConverter puts into data without a schema is "
        "written by JsonConverter and StringConverter as `2023-11-14 22:13:20.123+00:00`.",
        "Kafka Connect's JsonConverter refuses such a record, its StringConverter writes the date "
        "as Java prints it. (tests/spark/transforms/test_beyond_java.py)",
    ),
)


def first_difference(trial: Trial, record: Record, theirs: Result, ours: Result) -> str:
    """Where two results differ, apart from what stands in the table; empty if they do not."""
    if "impossible" in theirs:
        return ""
    for found in DIFFERENCES:
        theirs, ours = found.apply(trial, record, theirs, ours)
    theirs, ours = _error_classes(trial, record, theirs, ours)
    if ours.get("dropped") and theirs.get("dropped"):
        return ""
    return difference(ours, theirs)


def page() -> str:
    """docs/transform-differences.md."""
    lines = [
        "# Differences from Kafka Connect's transformations",
        "",
        "Values, schemas, topics, partitions, timestamps, headers and error texts are those of "
        "Apache Kafka Connect 4.1.1, except for these. `make parity` sends generated records of "
        "all types through both and allows nothing else.",
        "",
        "| Difference | Reason |",
        "| --- | --- |",
        *(f"| {found.what} | {found.why} |" for found in DIFFERENCES),
        *(f"| {what} | {why} |" for what, why in AFTERWARDS),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
