"""An Arrow kernel as a Column: whole batches through Python, arrays in and an array out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

# Spark evaluates the annotations of run(), so this import must be there at run time.
import pyarrow as pa
from pyspark.sql.pandas.functions import arrow_udf

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType


def kernel_column(
    kernel: Callable[..., pa.Array], returned: DataType | str, *inputs: Column
) -> Column:
    """The kernel over the inputs; the array it returns has one item for each row."""
    make: Any = arrow_udf

    def run(*arrays: pa.Array) -> pa.Array:
        return kernel(*arrays)

    column: Column = make(run, returnType=returned)(*inputs)
    return column
