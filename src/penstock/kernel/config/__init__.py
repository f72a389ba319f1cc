"""The configuration kernel: declare keys, check properties, read files. No Kafka, no Spark.

May import the kernel's errors and Java's semantics.
"""

from penstock.kernel.config.declare import Config, key
from penstock.kernel.config.definition import (
    REQUIRED,
    ConfigDef,
    ConfigKey,
    ConfigValue,
    Importance,
    Recommender,
    Width,
)
from penstock.kernel.config.validators import (
    Validator,
    all_of,
    at_least,
    at_most_of_size,
    between,
    each_of,
    java_regex,
    matches,
    no_control_characters,
    no_duplicates,
    non_empty,
    non_empty_list,
    non_null,
    one_of,
    one_of_ignoring_case,
    optional,
    rule,
)
from penstock.kernel.config.values import ClassResolver, Password, Type, invalid

__all__ = [
    "REQUIRED",
    "ClassResolver",
    "Config",
    "ConfigDef",
    "ConfigKey",
    "ConfigValue",
    "Importance",
    "Password",
    "Recommender",
    "Type",
    "Validator",
    "Width",
    "all_of",
    "at_least",
    "at_most_of_size",
    "between",
    "each_of",
    "invalid",
    "java_regex",
    "key",
    "matches",
    "no_control_characters",
    "no_duplicates",
    "non_empty",
    "non_empty_list",
    "non_null",
    "one_of",
    "one_of_ignoring_case",
    "optional",
    "rule",
]
