"""The documents of a JSON Schema: itself, and those it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urljoin

from penstock.codecs.json import document as json_document
from penstock.kernel.errors import DataError


@dataclass(frozen=True, slots=True)
class _Document:
    node: Any
    address: str


@dataclass(frozen=True, slots=True)
class Place:
    """A schema inside of a document."""

    node: Any
    document: _Document = field(repr=False)
    path: str = "#"

    def inside(self, name: str) -> Place:
        node = self.node.get(name) if isinstance(self.node, dict) else None
        return Place(node, self.document, f"{self.path}/{name}")

    def items(self, name: str) -> Iterator[Place]:
        """The schemas in a list; none if there is no such list."""
        node = self.node.get(name)
        for number, each in enumerate(node if isinstance(node, list) else ()):
            yield Place(each, self.document, f"{self.path}/{name}/{number}")

    def instead(self, node: Any) -> Place:
        """Another node for the same place."""
        return Place(node, self.document, self.path)


class Documents:
    """A schema's text and the texts of its references, by the names it has for them.

    Raises:
        DataError: a text is not JSON.
    """

    def __init__(self, text: str, references: Mapping[str, str]) -> None:
        main = _document(text, "")
        self.root = Place(main.node, main)
        self._others = {name: _document(text, name) for name, text in references.items()}

    def find(self, place: Place, reference: Any) -> Place:
        """The target of the `$ref` at a place.

        Raises:
            DataError: there is no such schema.
        """
        if not isinstance(reference, str):
            raise DataError(f"The $ref at {place.path} is not a text")
        address, _, fragment = reference.partition("#")
        document = self._document(place.document, address) if address else place.document
        if document is None:
            inner = _with_id(place.document.node, address)
            if inner is None:
                raise DataError(
                    f"The JSON Schema refers to {reference}, which is not among its references"
                )
            return _pointed(Place(inner, place.document, address), fragment, reference)
        return _pointed(Place(document.node, document), fragment, reference)

    def _document(self, near: _Document, address: str) -> _Document | None:
        """The document with an address, which may be relative to that of another."""
        wanted = {address, urljoin(near.address, address)}
        for name, other in self._others.items():
            if wanted & {name, urljoin(near.address, name), other.address}:
                return other
        known = (near, self.root.document)
        return next((each for each in known if each.address and each.address in wanted), None)


def _document(text: str, name: str) -> _Document:
    node = json_document.parse(text.encode())
    own = node.get("$id") or node.get("id") if isinstance(node, dict) else None
    return _Document(node, own if isinstance(own, str) else name)


def _pointed(start: Place, fragment: str, reference: str) -> Place:
    """The target of a fragment: a path, or an anchor."""
    if fragment and not fragment.startswith("/"):
        anchored = _with_id(start.document.node, f"#{fragment}")
        if anchored is None:
            raise DataError(f"The JSON Schema refers to {reference}, which it does not contain")
        return Place(anchored, start.document, f"#{fragment}")
    place = start
    for part in fragment.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        place = _step(place, name)
        if place.node is None:
            raise DataError(f"The JSON Schema refers to {reference}, which it does not contain")
    return place


def _step(place: Place, name: str) -> Place:
    if isinstance(place.node, list):
        inside = name.isdecimal() and int(name) < len(place.node)
        node = place.node[int(name)] if inside else None
        return Place(node, place.document, f"{place.path}/{name}")
    return place.inside(name)


def _with_id(node: Any, wanted: str) -> Any:
    """The schema inside of a node that is called so."""
    if isinstance(node, list):
        found = (_with_id(each, wanted) for each in node)
        return next((each for each in found if each is not None), None)
    if not isinstance(node, dict):
        return None
    if wanted in (node.get("$id"), node.get("id")) or wanted == f"#{node.get('$anchor')}":
        return node
    found = (_with_id(each, wanted) for each in node.values())
    return next((each for each in found if each is not None), None)
