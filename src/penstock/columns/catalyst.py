"""Spark's own SQL parser, and its trees as columns: the one place that knows how these look.

Nothing public takes a query apart. What is used of Catalyst here is the shape of a parsed SELECT,
which has been the same since Spark 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from penstock.kernel.errors import ConfigError, DataError

_ALLOWED: Final = "a query is SELECT … FROM record [WHERE …], several of them joined by UNION ALL"
_SUBQUERIES: Final = ("ScalarSubquery", "ListQuery", "Exists", "LateralSubquery", "InSubquery")


@dataclass(frozen=True, slots=True)
class Star:
    """`*`: all fields, but some."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An expression of a SELECT list. `path`: it is nothing but this name."""

    name: str
    text: str
    tree: Any
    path: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT of a query; `alias` is its name of the record."""

    items: tuple[Star | Item, ...]
    condition: Any | None
    alias: str


Resolve = Callable[[tuple[str, ...]], Column | None]
"""Gives the column that a name stands for; None: a null that fits wherever it stands."""


def selects_of(query: str, relation: str) -> tuple[Select, ...]:
    """The SELECTs of a query over one relation.

    Raises:
        ConfigError: Spark can't read it, or it is more than SELECT, FROM, WHERE and UNION ALL.
    """
    try:
        plan = _session().sessionState().sqlParser().parsePlan(query)
    except ParseException as error:
        raise ConfigError(f"the query can't be read: {str(error).strip()}") from error
    return tuple(_selects(plan, relation))


def column_of(tree: Any, resolve: Resolve) -> Column:
    """The expression as a column, its names replaced by the columns they stand for."""
    return Column(_utilities().column(_resolved(tree, resolve)))


def attempt(column: Column) -> Column:
    """The column, but null for rows that it would fail for."""
    expressions = _jvm().org.apache.spark.sql.catalyst.expressions
    return Column(_utilities().column(expressions.TryEval(_utilities().expression(column._jc))))  # noqa: SLF001


def analysed(columns: Sequence[Column], row: StructType) -> list[StructField]:
    """What the columns are, over a frame of such rows; no job is run.

    Raises:
        DataError: they can't be computed from such columns.
        ConfigError: they ask for more than one record, or give more than one.
    """
    empty = SparkSession.active().createDataFrame([], row)
    try:
        frame = empty.select(*[column.alias(f"_{place}") for place, column in enumerate(columns)])
    except AnalysisException as error:
        raise DataError(words_of(error)) from error
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    below = plan.child() if _kind(plan) == "Project" else plan
    if _all(below.children()):
        kind = _kind(below)
        raise ConfigError(f"{_NODES.get(kind, kind)} is not possible on one record: {_ALLOWED}")
    return list(frame.schema.fields)


def is_repeatable(frame: DataFrame) -> bool:
    """Whether a plan that was made once serves again and again.

    Spark settles the current time and the seeds of random values when it plans: run again, the
    plan would give the same moments and uuids to other records.
    """
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    time = _jvm().org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE()
    return bool(plan.deterministic()) and not plan.containsPattern(time)


def words_of(error: PySparkException) -> str:
    """Spark's message, without the plan or the trace below it."""
    return str(error).partition(";\n")[0].strip()


def functions_in(tree: Any) -> Iterator[str]:
    """The names of all functions called in an expression."""
    if _kind(tree) == "UnresolvedFunction":
        yield ".".join(_all(tree.nameParts())).lower()
    for child in _all(tree.children()):
        yield from functions_in(child)


def _selects(plan: Any, relation: str) -> Iterator[Select]:
    if _kind(plan) == "Union":
        for child in _all(plan.children()):
            yield from _selects(child, relation)
        return
    if _kind(plan) != "Project":
        raise ConfigError(f"{_described(plan)} is not possible on one record: {_ALLOWED}")
    source, condition = plan.child(), None
    if _kind(source) == "Filter":
        source, condition = source.child(), source.condition()
    alias = relation
    if _kind(source) == "SubqueryAlias":
        source, alias = source.child(), str(source.alias())
    _check_relation(source, relation)
    items = tuple(_item(each) for each in _all(plan.projectList()))
    for tree in [condition, *(each.tree for each in items if isinstance(each, Item))]:
        _check_tree(tree)
    yield Select(items, condition, alias)


def _check_relation(source: Any, relation: str) -> None:
    if _kind(source) == "OneRowRelation":
        raise ConfigError(f"FROM {relation} is missing: {_ALLOWED}")
    if _kind(source) != "UnresolvedRelation":
        raise ConfigError(f"{_described(source)} is not possible on one record: {_ALLOWED}")
    name = ".".join(_all(source.multipartIdentifier()))
    if name.lower() != relation:
        raise ConfigError(f"there is no table {name} here: {_ALLOWED}")


def _check_tree(tree: Any | None) -> None:
    if tree is None:
        return
    if _kind(tree) in _SUBQUERIES:
        raise ConfigError(f"a query inside the query is not possible: {_ALLOWED}")
    if _kind(tree) in ("WindowExpression", "UnresolvedWindowExpression"):
        raise ConfigError(f"OVER (…) is not possible on one record: {_ALLOWED}")
    for child in _all(tree.children()):
        _check_tree(child)


def _item(tree: Any) -> Star | Item:
    kind = _kind(tree)
    if kind == "UnresolvedStar":
        return Star()
    if kind == "UnresolvedStarExceptOrReplace":
        if tree.replacements().isDefined():
            raise ConfigError("* REPLACE (…) is not supported: use * EXCEPT (…) and AS")
        return Star(tuple(".".join(_all(path)) for path in _all(tree.excepts())))
    if kind == "UnresolvedAttribute":
        names = tuple(_all(tree.nameParts()))
        return Item(names[-1], str(tree.sql()), tree, names)
    if kind == "Alias":
        inner = tree.child()
        path = tuple(_all(inner.nameParts())) if _kind(inner) == "UnresolvedAttribute" else None
        return Item(str(tree.name()), str(inner.sql()), inner, path)
    raise ConfigError(f"{tree.child().sql()} has no name: give it one with AS")


def _resolved(tree: Any, resolve: Resolve, bound: frozenset[str] = frozenset()) -> Any:
    """`bound`: the arguments of the functions (x -> …) around it."""
    if _kind(tree) in _NAMES:
        path = tuple(_all(tree.nameParts()))
        if path[0].lower() in bound:
            return tree
        column = resolve(path)
        if column is None:
            return _session().sessionState().sqlParser().parseExpression("NULL")
        return _utilities().expression(column._jc)  # noqa: SLF001
    if _kind(tree) == "LambdaFunction":
        arguments = [argument.nameParts().head().lower() for argument in _all(tree.arguments())]
        bound = bound.union(arguments)
    children = _all(tree.children())
    if not children:
        return tree
    changed = [_resolved(child, resolve, bound) for child in children]
    if _kind(tree) == "UnresolvedExtractValue" and _is_null(changed[0]):
        return changed[0]  # NULL[0], which Spark has no type for
    return tree.withNewChildren(_jvm().PythonUtils.toSeq(changed))


def _described(plan: Any) -> str:
    return _NODES.get(_kind(plan), str(plan.nodeName()))


# Inside x -> … Spark's parser takes every name for an argument at first.
_NAMES: Final = ("UnresolvedAttribute", "UnresolvedNamedLambdaVariable")
_NODES: Final = {
    "Aggregate": "GROUP BY, or an aggregate,",
    "UnresolvedHaving": "HAVING",
    "Distinct": "DISTINCT",
    "Sort": "ORDER BY",
    "GlobalLimit": "LIMIT",
    "LocalLimit": "LIMIT",
    "Offset": "OFFSET",
    "Join": "a join",
    "Generate": "explode(), or LATERAL VIEW,",
    "UnresolvedWith": "WITH",
    "Project": "a SELECT inside FROM",
    "Except": "EXCEPT",
    "Intersect": "INTERSECT",
}


def _is_null(tree: Any) -> bool:
    return _kind(tree) == "Literal" and tree.value() is None


def _kind(tree: Any) -> str:
    return str(tree.getClass().getSimpleName())


def _all(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]


def _session() -> Any:
    return SparkSession.active()._jsparkSession  # noqa: SLF001


def _jvm() -> Any:
    return SparkSession.active()._jvm  # noqa: SLF001


def _utilities() -> Any:
    return _jvm().org.apache.spark.sql.classic.ExpressionUtils
