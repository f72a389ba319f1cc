"""How Connect data and Protobuf are mapped to each other: what the converter's keys decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_NAMESPACE: Final = "io.confluent.connect.protobuf"
ENUM: Final = f"{_NAMESPACE}.Enum"
UNION: Final = f"{_NAMESPACE}.Union"
TAG: Final = f"{_NAMESPACE}.Tag"
TYPE: Final = f"{_NAMESPACE}.Type"
#: What enums and unions of all the registry's converters are called, if they shall be alike.
GENERAL_ENUM: Final = "org.apache.kafka.connect.data.Enum"
GENERAL_UNION: Final = "org.apache.kafka.connect.data.Union"

DECIMAL_MESSAGE: Final = "confluent.type.Decimal"
DATE_MESSAGE: Final = "google.type.Date"
TIME_MESSAGE: Final = "google.type.TimeOfDay"
TIMESTAMP_MESSAGE: Final = "google.protobuf.Timestamp"


@dataclass(frozen=True, slots=True)
class ProtobufOptions:
    """The names are those of the keys, with underscores for dots."""

    generalized_sum_type_support: bool = False
    enhanced_protobuf_schema_support: bool = False
    scrub_invalid_names: bool = False
    int_for_enums: bool = False
    optional_for_nullables: bool = False
    optional_for_proto2: bool = True
    wrapper_for_nullables: bool = False
    wrapper_for_raw_primitives: bool = True
    generate_struct_for_nulls: bool = False
    generate_index_for_unions: bool = True
    flatten_unions: bool = False

    @property
    def enum_parameter(self) -> str:
        return GENERAL_ENUM if self.generalized_sum_type_support else ENUM
