"""Small files that commands keep on this machine, by cluster and connector, for the owner only."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from penstock.kernel.errors import StorageError
from penstock.machine.files import replace_file

_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_OF_NAME: Final = 80


def state_home(environ: Mapping[str, str] | None = None) -> Path:
    """The directory of these files; not created by this call."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "penstock"


def state_file(
    directory: Path, cluster: str, connector: str, cluster_id: str | None = None
) -> Path:
    """The file of a connector of a cluster, whatever characters its name has.

    With `cluster_id`, another file for each Kafka cluster that the address leads to.
    """
    place = urlsplit(cluster)
    # Without the user and password of the address.
    where = f"{place.hostname or ''}:{place.port or ''}{place.path}"
    known_by = "\n".join(filter(None, (where, connector, cluster_id)))
    digest = hashlib.sha256(known_by.encode()).hexdigest()[:12]
    return directory / f"{_ODD.sub('_', connector)[:_MOST_OF_NAME]}-{digest}.json"


def is_kept(file: Path) -> bool:
    """Whether the file exists. Raises StorageError if its directory can't be read."""
    with _usable(file):
        return file.exists()


def write_state(file: Path, data: bytes) -> None:
    """Write the file, and create its directory. Raises StorageError if that fails."""
    with _usable(file):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(file, data)


@contextmanager
def _usable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"the state of the change can't be kept in {file.parent}: {error}; set XDG_STATE_HOME"
            " to a writable directory"
        ) from error
