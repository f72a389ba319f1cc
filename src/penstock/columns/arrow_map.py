"""Arrow kernels over whole batches, for a Spark that has no pandas beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType
    from pyspark.sql.udf import UserDefinedFunction

ArrowKernel = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def map_in_arrow(frame: DataFrame, kernel: ArrowKernel, schema: StructType) -> DataFrame:
    """`frame.mapInArrow(kernel, schema)`.

    pyspark 4.1 asks for pandas there although neither side of it uses pandas (12 MB to download,
    40 MB in every process), so this makes the same plan without asking.
    """
    return map_by(frame, arrow_function(kernel, schema))


def arrow_function(kernel: ArrowKernel, schema: StructType) -> UserDefinedFunction:
    """The argument of map_by(). It is pickled once, however often it is used."""
    from pyspark.sql.udf import UserDefinedFunction
    from pyspark.util import PythonEvalType

    return UserDefinedFunction(
        _Lean(kernel), returnType=schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    )


@dataclass(frozen=True, slots=True)
class _Lean:
    """A kernel in a Python process whose later tasks begin sooner.

    Spark has its own jar on Python's path, where there is no Python, and each task reads the list
    of its 6,000 files anew: 50 ms of CPU, more than a small batch takes.
    """

    kernel: ArrowKernel

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        jars = [path for path in sys.path_importer_cache if ".jar/" in f"{path}/"]
        if jars:
            sys.path[:] = [path for path in sys.path if path not in jars]
        for path in jars:
            del sys.path_importer_cache[path]
        return self.kernel(batches)


def map_by(frame: DataFrame, function: UserDefinedFunction) -> DataFrame:
    """As map_in_arrow(), with a function that is there already."""
    call: Any = function(*[frame[name] for name in frame.columns])
    java_frame = frame._jdf.mapInArrow(call._jc, False, None)  # noqa: FBT003, SLF001 - see above
    return DataFrame(java_frame, frame.sparkSession)
