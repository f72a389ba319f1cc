"""The forms in which JSON and YAML files describe connectors.

{name: …, config: {…}, state: …}      one connector; what Connect takes, or answers
{name: …, connector.class: …, …}      one connector, its config alone
[ …, … ]                              several of either
{defaults: {…}, connectors: …}        a list of either, or a mapping from names
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from penstock.kernel.wire.states import Wanted
from penstock.tools.manager.connector import MARKER, NAME, Connector, Origin, Problem
from penstock.tools.manager.nodes import Entry, Items, Node, Scalar, Table

_CONFIG: Final = "config"
# Connect's own key: the state of a new connector. `state` is for existing ones too.
_INITIAL: Final = "initial_state"
_STATES: Final = ("state", _INITIAL)
# GET /connectors/{name} returns these too, and people keep such answers as files.
_ANSWERED: Final = ("tasks", "type")
_ENVELOPE: Final = (NAME, _CONFIG, *_STATES, *_ANSWERED)
_CONNECTORS: Final = "connectors"
_DEFAULTS: Final = "defaults"
_FILE: Final = (_DEFAULTS, _CONNECTORS)


@dataclass(slots=True)
class Form:
    """Reads the documents of one file, and collects their problems."""

    file: Path
    problems: list[Problem] = field(default_factory=list)
    _defaults: Mapping[str, Entry] = field(default_factory=dict)

    def connectors(self, documents: Sequence[Node]) -> list[Connector]:
        """All connectors of the file; defaults apply to all, wherever they are in the file."""
        self._read_defaults(documents)
        found = [each for document in documents for each in self._of_document(document)]
        if not documents:
            self._refuse("the file is empty; write `connectors: []` for no connectors", 1)
        return found

    # ----------------------------------------------------------------------------- documents

    def _read_defaults(self, documents: Sequence[Node]) -> None:
        parts = [
            entry
            for document in documents
            if isinstance(document, Table) and _is_collection(document)
            for entry in document
            if entry.key == _DEFAULTS
        ]
        for entry in parts[1:]:
            self._refuse("the file has more than one `defaults`", entry.line, key=_DEFAULTS)
        for entry in parts[:1]:
            if not isinstance(entry.value, Table):
                self._refuse("defaults must be a mapping of keys", entry.line, key=_DEFAULTS)
                continue
            self._refuse_repeated(entry.value, None)
            self._defaults = {each.key: each for each in entry.value}
            for key in (NAME, MARKER):
                if key in self._defaults:
                    self._refuse("can't be a default", self._defaults[key].line, key=key)

    def _of_document(self, document: Node) -> Iterator[Connector]:
        if isinstance(document, Table) and _is_collection(document):
            yield from self._of_collection(document)
        elif isinstance(document, Items):
            yield from self._of_items(document)
        elif isinstance(document, Table):
            yield from self._of_table(document)
        else:
            self._refuse("expected a connector, or a list of connectors", document.line)

    def _of_collection(self, document: Table) -> Iterator[Connector]:
        self._refuse_repeated(document, None)
        for entry in document:
            if entry.key not in _FILE:
                known = " and ".join(_FILE)
                self._refuse(f"unknown key; there are {known}", entry.line, key=entry.key)
        listed = document.find(_CONNECTORS)
        value = None if listed is None else listed.value
        if isinstance(value, Items):
            yield from self._of_items(value)
        elif isinstance(value, Table):
            self._refuse_repeated(value, None)
            for entry in value:
                yield from self._named(entry)
        elif listed is not None and not (isinstance(value, Scalar) and value.text is None):
            message = "must be a list of connectors, or a mapping from their names"
            self._refuse(message, listed.line, key=_CONNECTORS)

    def _of_items(self, items: Items) -> Iterator[Connector]:
        for item in items.items:
            if isinstance(item, Table):
                yield from self._of_table(item)
            else:
                self._refuse("expected a connector: a mapping with a name", item.line)

    def _named(self, entry: Entry) -> Iterator[Connector]:
        if isinstance(entry.value, Table):
            yield from self._of_table(entry.value, entry.key, entry.line)
        elif isinstance(entry.value, Scalar) and entry.value.text is None:
            yield from self._of_table(Table(entry.line, ()), entry.key, entry.line)
        else:
            message = "expected a mapping: its config, or `config:` and `state:`"
            self._refuse(message, entry.line, entry.key)

    # --------------------------------------------------------------------------- one connector

    def _of_table(
        self, table: Table, name: str | None = None, line: int | None = None
    ) -> Iterator[Connector]:
        envelope = _is_envelope(table)
        body = _config_of(table) if envelope else table
        name = self._name(table, body, name)
        if name is None:
            return
        place = table.line if line is None else line
        state = self._envelope_state(table, name) if envelope else None
        if not envelope:
            self._refuse_bare_state(table, name)
        lines, config = self._config(body, name)
        initial = envelope and table.find(_INITIAL) is not None
        yield Connector(name, config, state, Origin(self.file, place, lines), initial)

    def _name(self, table: Table, body: Table, name: str | None) -> str | None:
        found = name
        for entry in (each for part in (table, body) for each in part if each.key == NAME):
            text = entry.value.text if isinstance(entry.value, Scalar) else None
            if not text:
                self._refuse("must be a text", entry.line, found, NAME)
                return None
            if found is not None and text != found:
                self._refuse(
                    f"is {text}, but the connector is named {found}", entry.line, found, NAME
                )
                return None
            found = text
        if found is None:
            self._refuse("the connector has no name", table.line)
        elif found != found.strip() or not found:
            self._refuse(f"{found!r} is not a valid name: empty, or with blanks around", table.line)
            return None
        return found

    def _envelope_state(self, table: Table, name: str) -> Wanted | None:
        self._refuse_repeated(table, name)
        for entry in table:
            if entry.key == _CONFIG and not isinstance(entry.value, Table):
                self._refuse("must be a mapping of keys", entry.line, name, _CONFIG)
            if entry.key not in _ENVELOPE:
                message = f"unknown key beside config; there are {', '.join(_ENVELOPE[:4])}"
                self._refuse(message, entry.line, name, entry.key)
        states = [entry for entry in table if entry.key in _STATES]
        for entry in states[1:]:
            self._refuse("the state is given twice", entry.line, name, entry.key)
        for entry in states[:1]:
            return self._state(entry, name)
        return None

    def _state(self, entry: Entry, name: str) -> Wanted | None:
        text = entry.value.text if isinstance(entry.value, Scalar) else ""
        if text is None:
            return None
        try:
            return Wanted(text.lower())
        except ValueError:
            allowed = ", ".join(Wanted)
            self._refuse(f"is {text!r}; it must be one of {allowed}", entry.line, name, entry.key)
            return None

    def _refuse_bare_state(self, table: Table, name: str) -> None:
        """Reject a state among the keys of the config, where it would have no effect."""
        for entry in table:
            value = entry.value.text if isinstance(entry.value, Scalar) else None
            if entry.key in _STATES and (value or "").lower() in list(Wanted):
                message = "write the state beside `config:`, not among the keys of the config"
                self._refuse(message, entry.line, name, entry.key)

    def _config(self, body: Table, name: str) -> tuple[dict[str, int], dict[str, str]]:
        self._refuse_repeated(body, name)
        entries = {**self._defaults, **{entry.key: entry for entry in body}}
        texts = {key: self._text(entry, name) for key, entry in entries.items() if key != NAME}
        if MARKER in texts:
            message = "is written by Penstock: leave it out (--project chooses its value)"
            self._refuse(message, entries[MARKER].line, name, MARKER)
        lines = {key: entry.line for key, entry in entries.items()}
        return lines, {key: text for key, text in texts.items() if text is not None}

    def _text(self, entry: Entry, name: str) -> str | None:
        value = entry.value
        if isinstance(value, Scalar):
            return value.text
        if isinstance(value, Table):
            message = f"is a mapping; write its keys with dots, as {entry.key}.<key>"
            self._refuse(message, entry.line, name, entry.key)
            return None
        texts = [item.text if isinstance(item, Scalar) else None for item in value.items]
        if any(text is None for text in texts):
            self._refuse("a list may only contain texts and numbers", entry.line, name, entry.key)
        elif any("," in (text or "") for text in texts):
            message = "a list element contains a comma, which Connect would take as a separator"
            self._refuse(message, entry.line, name, entry.key)
        return ",".join(text or "" for text in texts)

    # -------------------------------------------------------------------------------- problems

    def _refuse_repeated(self, table: Table, name: str | None) -> None:
        for entry in table.repeated():
            self._refuse("the key is given twice", entry.line, name, entry.key)

    def _refuse(
        self, message: str, line: int, connector: str | None = None, key: str | None = None
    ) -> None:
        self.problems.append(Problem(message, self.file, line, connector, key))


def _is_collection(table: Table) -> bool:
    if table.find("connector.class") is not None:
        return False
    return table.find(_CONNECTORS) is not None or table.find(_DEFAULTS) is not None


def _is_envelope(table: Table) -> bool:
    config = table.find(_CONFIG)
    return config is not None and table.find("connector.class") is None


def _config_of(table: Table) -> Table:
    config = table.find(_CONFIG)
    if config is not None and isinstance(config.value, Table):
        return config.value
    return Table(table.line, ())
