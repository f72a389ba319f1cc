"""AvroConverter's settings for schemas."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.codecs.avro import names
from penstock.codecs.avro.model import NAMED, AvroType
from penstock.kernel.data.schema import Schema


@dataclass(frozen=True, slots=True)
class AvroOptions:
    """One field for each key; see AvroConverterConfig."""

    meta_data: bool = True
    enhanced: bool = False
    scrub_names: bool = False
    discard_type_doc: bool = False
    optional_map_keys: bool = False
    flatten_singletons: bool = False
    generalized: bool = False
    ignore_defaults: bool = False

    @property
    def enum_parameter(self) -> str:
        """The parameter of a string schema that has the name of its enum."""
        return names.GENERAL_ENUM if self.generalized else names.ENUM

    def name(self, name: str) -> str:
        return names.scrubbed(name) if self.scrub_names else name

    def full_name(self, name: str) -> str:
        return ".".join(map(self.name, name.split(".")))

    def branch_name(self, branch: AvroType, number: int) -> str:
        """The field that stands for a branch of a union."""
        if self.generalized:
            return f"{names.GENERAL_UNION_FIELD}{number}"
        if branch.kind in NAMED:
            return branch.name or "" if self.enhanced else branch.simple_name
        return str(branch.kind)


def is_union(schema: Schema) -> bool:
    """Whether a struct stands for a union: one field for each branch, one of them set."""
    return schema.name == names.UNION or schema.parameter(names.GENERAL_UNION) is not None
