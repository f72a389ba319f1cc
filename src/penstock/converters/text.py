"""StringConverter: the text of a value, in any character set."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Final

from penstock.api.converter import Converter, HeaderConverter, Layout
from penstock.codecs.converter_key import ConverterConfig
from penstock.converters.common import decoded, encoded
from penstock.kernel.config import Importance, Type, Width, key
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import OPTIONAL_STRING_SCHEMA, SchemaType
from penstock.kernel.errors import DataError
from penstock.kernel.java.to_string import value_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from penstock.kernel.data.schema import Schema

_UTF_8: Final = "utf-8"


class StringConverterConfig(ConverterConfig):
    """Keys of StringConverter."""

    converter_encoding: str = key(
        Type.STRING,
        default="UTF-8",
        importance=Importance.HIGH,
        width=Width.MEDIUM,
        display="Encoding",
        doc="The character set of the bytes, by its name in Java.",
    )


class StringConverter(Converter, HeaderConverter):
    """Strings as bytes. Values of other types are written as Java's toString() has them."""

    Config = StringConverterConfig
    java_name = "org.apache.kafka.connect.storage.StringConverter"
    uniform = True

    def __init__(self, config: StringConverterConfig, *, is_key: bool = False) -> None:
        super().__init__(config, is_key=is_key)
        self._charset = Charset.named(config.converter_encoding)

    def encode(self, schema: Schema | None, data: Column) -> Column:
        from pyspark.sql import functions as F

        from penstock.columns.java.to_string import java_text
        from penstock.columns.kernel import kernel_column

        if self._charset is None:
            return self._refused(data, "Failed to serialize to a string: ")
        text = data
        if schema is None or schema.type is not SchemaType.STRING:
            text = F.when(data.isNotNull(), java_text(schema, data))
        if schema is None:
            text = F.when(~F.is_variant_null(data), text)
        if self._charset.codec == _UTF_8:
            return encoded(text.cast("binary"), None)
        return encoded(kernel_column(self._charset.encode_all, "binary", text), None)

    def layout(self, raw: bytes | None) -> Layout:  # noqa: ARG002 - all bytes have this one
        return Layout(OPTIONAL_STRING_SCHEMA)

    def decode(self, layout: Layout, raw: Column) -> Column:  # noqa: ARG002 - there is one
        from pyspark.sql import functions as F

        from penstock.columns.kernel import kernel_column

        if self._charset is None:
            refused = self._refused(raw, "Failed to deserialize string: ")
            return decoded(F.lit(None).cast("string"), refused.getField("error"))
        if self._charset.codec == _UTF_8:
            return decoded(F.make_valid_utf8(raw.cast("string")))
        return decoded(kernel_column(self._charset.decode_all, "string", raw))

    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        if self._charset is None:
            raise DataError(f"Failed to deserialize string: {self._unsupported()}")
        text = None if raw is None else self._charset.decode(raw)
        return SchemaAndValue(OPTIONAL_STRING_SCHEMA, text)

    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:
        if self._charset is None:
            raise DataError(f"Failed to serialize to a string: {self._unsupported()}")
        if value is None:
            return None
        return self._charset.encode(value if isinstance(value, str) else value_text(schema, value))

    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        return self.decode_one(raw)

    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_one(schema, value)

    def _unsupported(self) -> str:
        return f"unsupported encoding {self.config.converter_encoding}"

    def _refused(self, data: Column, text: str) -> Column:
        from pyspark.sql import functions as F

        error = F.when(data.isNotNull(), F.lit(text + self._unsupported()))
        return encoded(F.lit(None).cast("binary"), error)


class Charset:
    """A Java character set: Python's codec of it, and the marks Java puts in front."""

    def __init__(self, codec: str, *, mark: bytes = b"", marked: str | None = None) -> None:
        self.codec = codec
        self._mark = mark
        self._marked = marked

    @classmethod
    def named(cls, name: str) -> Charset | None:
        """The character set of that name; None if there is none."""
        try:
            codec = codecs.lookup(name).name
        except LookupError:
            return None
        return _JAVA_UTF.get(codec) or cls(codec)

    def encode(self, text: str) -> bytes:
        return self._mark + text.encode(self.codec, "replace") if text else b""

    def decode(self, raw: bytes) -> str:
        """Bytes that stand for no character become U+FFFD."""
        if self._marked and raw[:2] in (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE):
            return raw.decode(self._marked, "replace")
        return raw.decode(self.codec, "replace")

    def encode_all(self, texts: pa.Array) -> pa.Array:
        import pyarrow as pa

        raws = [None if each is None else self.encode(each) for each in texts.to_pylist()]
        return pa.array(raws, pa.binary())

    def decode_all(self, raws: pa.Array) -> pa.Array:
        import pyarrow as pa

        texts = [None if each is None else self.decode(each) for each in raws.to_pylist()]
        return pa.array(texts, pa.string())


#: Java writes UTF-16 big-endian with a mark and UTF-32 without one; Python has it otherwise.
_JAVA_UTF: Final = {
    "utf-16": Charset("utf-16-be", mark=codecs.BOM_UTF16_BE, marked="utf-16"),
    "utf-32": Charset("utf-32-be"),
}
