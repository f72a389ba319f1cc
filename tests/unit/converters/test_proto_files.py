"""Files of Protobuf: what is read of their text, and how messages in them are found."""

from __future__ import annotations

import base64
import importlib
from pathlib import Path
from typing import Any

import google.type.date_pb2
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

from penstock.codecs.protobuf.files import ProtoSchema
from penstock.codecs.protobuf.indexes import indexes_bytes, read_indexes
from penstock.codecs.protobuf.meta import meta_of
from penstock.codecs.protobuf.parser import parse_proto
from penstock.kernel.errors import DataError

PACKAGES = Path(google.type.date_pb2.__file__).parents[2]
#: Google's files in all their variety, which protoc has compiled.
COMPILED = sorted(
    str(path.relative_to(PACKAGES))
    for folder in ("api", "rpc", "type")
    for path in (PACKAGES / "google" / folder).rglob("*.proto")
)


def _shape(message: DescriptorProto) -> Any:
    """What matters of a message; the order of nested ones does not."""
    fields = [
        (f.name, f.number, f.label, f.type, f.type_name, f.proto3_optional, f.oneof_index)
        for f in message.field
    ]
    enums = [(e.name, [(v.name, v.number) for v in e.value]) for e in message.enum_type]
    nested = sorted((_shape(each) for each in message.nested_type), key=str)
    oneofs = [each.name for each in message.oneof_decl]
    return message.name, fields, enums, nested, oneofs, message.options.map_entry


def _add_imports(file: FileDescriptor, pool: Any, done: set[str]) -> None:
    for each in file.dependencies:
        if each.name not in done:
            done.add(each.name)
            _add_imports(each, pool, done)
            pool.AddSerializedFile(each.serialized_pb)


def test_files_are_read_as_protoc_reads_them() -> None:
    assert len(COMPILED) > 40
    for name in COMPILED:
        module = importlib.import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
        pool: Any = descriptor_pool.DescriptorPool()
        _add_imports(module.DESCRIPTOR, pool, set())
        pool.Add(parse_proto((PACKAGES / name).read_text(), name))
        expected = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        for message in expected.message_type:
            found = DescriptorProto()
            pool.FindMessageTypeByName(f"{expected.package}.{message.name}").CopyToProto(found)
            assert _shape(found) == _shape(message), name


def test_proto2() -> None:
    file = parse_proto(
        """
        package old; // no syntax is proto2
        message Old {
          required int32 id = 1;
          optional string name = 2 [default = "a\\"b\\x41", deprecated = true];
          optional bytes raw = 3 [default = "\\001\\n"];
          optional double far = 4 [default = -inf];
          repeated group Part = 5 { optional bool ok = 1; }
          extensions 100 to max;
          extend Old { optional int32 more = 100; }
          reserved 7 to 9, 11; reserved "gone";
        }
        """,
        "old.proto",
    )
    (message,) = file.message_type
    assert [(f.name, f.label, f.default_value) for f in message.field] == [
        ("id", 2, ""),
        ("name", 1, 'a"bA'),
        ("raw", 1, "\\001\\012"),
        ("far", 1, "-inf"),
        ("part", 3, ""),
    ]
    assert message.nested_type[0].name == "Part"
    schema = ProtoSchema((file.SerializeToString(),))
    assert schema.message((0,)).descriptor().fields_by_name["far"].default_value == float("-inf")


@pytest.mark.parametrize(
    "option",
    [
        '[(confluent.field_meta) = {params: [{key: "scale", value: "2"}, {value: "8" key: "a"}]}]',
        '[(confluent.field_meta).params = {key: "scale", value: "2"},'
        ' (confluent.field_meta).params = {key: "a" value: "8"}]',
        '[deprecated = true, (.confluent.field_meta) = <params {key: "scale" value: "2"}'
        ' params {key: "a" value: "8"}>, (other) = {x: [1, -2], [a.b]: y}]',
    ],
)
def test_options_of_confluent(option: str) -> None:
    file = parse_proto(f'syntax = "proto3"; message M {{ string s = 1 {option}; }}', "m.proto")
    assert meta_of(file.message_type[0].field[0].options) == {"scale": "2", "a": "8"}


def test_imports_are_references_or_known_files() -> None:
    schema = ProtoSchema.parse(
        """
        syntax = "proto3";
        import "google/protobuf/timestamp.proto";
        import "google/type/money.proto";
        import "confluent/type/decimal.proto";
        import public "common/name.proto";
        message M {
          google.protobuf.Timestamp at = 1;
          google.type.Money price = 2;
          .confluent.type.Decimal rate = 3;
          common.Name name = 4;
        }
        """,
        {
            "common/name.proto": 'syntax = "proto3"; package common; import "common/part.proto";'
            " message Name { Part first = 1; }",
            "common/part.proto": 'syntax = "proto3"; package common;'
            " message Part { string s = 1; }",
        },
    )
    fields = schema.message((0,)).descriptor().fields
    assert [each.message_type.full_name for each in fields] == [
        "google.protobuf.Timestamp",
        "google.type.Money",
        "confluent.type.Decimal",
        "common.Name",
    ]


def test_a_descriptor_in_base64_is_a_schema_too() -> None:
    file = FileDescriptorProto(name="made.proto", syntax="proto3")
    file.message_type.add(name="A").nested_type.add(name="B")
    text = base64.b64encode(file.SerializeToString()).decode()
    assert ProtoSchema.parse(text, {}).message((0, 0)).name == "A.B"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no message at the indexes"),
        ("nonsense", "line 1: unknown word 'nonsense'"),
        ("message M {\n\n  string = 1;\n}", "line 3: expected a name but found '='"),
        ("message M { string a = x; }", "expected a number but found 'x'"),
        ("message M { string a = 1", "expected ';' but found the end of the file"),
        ('syntax = "proto9";', "neither proto2 nor proto3"),
        ('edition = "2023";', "editions can't be read"),
        ("message M { Missing m = 1; }", "couldn't resolve name 'Missing'"),
        ("message M { optional int32 a = 1; optional int32 a = 2; }", "duplicate field name"),
        ('import "gone.proto"; message M { }', "imports gone.proto, which is not"),
        ('import "a.proto"; message M { }', "imports itself"),
        ("message M { § }", "has no meaning"),
    ],
)
def test_what_can_not_be_read_is_told(text: str, words: str) -> None:
    references = {"a.proto": 'import "b.proto";', "b.proto": 'import "a.proto";'}
    with pytest.raises(DataError, match=words):
        ProtoSchema.parse(text, references).message((0,)).descriptor()


@pytest.mark.parametrize(
    ("indexes", "raw"),
    [((0,), b"\0"), ((1,), b"\2\2"), ((1, 0, 300), b"\6\2\0\xd8\4"), ((0, 0), b"\4\0\0")],
)
def test_indexes(indexes: tuple[int, ...], raw: bytes) -> None:
    assert indexes_bytes(indexes) == raw
    assert read_indexes(raw + b"more") == (indexes, len(raw))


@pytest.mark.parametrize("raw", [b"", b"\2", b"\1", b"\xff" * 9, b"\xfe\xff\3"])
def test_indexes_that_are_none(raw: bytes) -> None:
    with pytest.raises(DataError):
        read_indexes(raw)


def test_names_that_only_differ_in_json() -> None:
    schema = ProtoSchema.parse("message M { optional int32 a_b = 1; optional int32 aB = 2; }", {})
    assert len(schema.message((0,)).descriptor().fields) == 2


def test_indexes_count_declared_messages_as_java_does() -> None:
    text = """message M { map<string, int32> m = 1; message A { } message B { } }"""
    schema = ProtoSchema.parse(f'syntax = "proto3"; {text}', {})
    assert [schema.message((0, place)).name for place in (0, 1)] == ["M.A", "M.B"]
