"""Options that several commands share: one parameter of a command, whose fields are options."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")


class Options:
    """Base of dataclasses whose fields are options, annotated as Typer wants them."""


def grouped(command: Callable[..., T]) -> Callable[..., T]:
    """The command with the fields of its Options as parameters, which Typer reads."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: found.annotation
        for name, found in signature.parameters.items()
        if inspect.isclass(found.annotation) and issubclass(found.annotation, Options)
    }

    @wraps(command)
    def called(**given: Any) -> T:
        for name, group in groups.items():
            names = [field.name for field in dataclasses.fields(group)]
            given[name] = group(**{field: given.pop(field) for field in names})
        return command(**given)

    flat = [
        each
        for name, found in signature.parameters.items()
        for each in (_fields(groups[name]) if name in groups else (found,))
    ]
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in flat]
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _fields(group: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        default = Parameter.empty if field.default is dataclasses.MISSING else field.default
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )
