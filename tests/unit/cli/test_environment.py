from __future__ import annotations

import pytest

from penstock.cli.environment import worker_properties


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("CONNECT_BOOTSTRAP_SERVERS", "bootstrap.servers"),
        ("CONNECT_GROUP_ID", "group.id"),
        ("CONNECT_value_CONVERTER_SCHEMAS_ENABLE", "value.converter.schemas.enable"),
        ("CONNECT_REST_ADVERTISED_HOST_NAME", "rest.advertised.host.name"),
        ("CONNECT_A__B___C_D", "a-b_c.d"),
        ("CONNECT_SPARK_DRIVER_MEMORY", "spark.driver.memory"),
    ],
)
def test_a_variable_names_a_property(variable: str, name: str) -> None:
    assert worker_properties({variable: "x"}) == {name: "x"}


@pytest.mark.parametrize("variable", ["HOME", "KAFKA_GROUP_ID", "CONNECT_LOG4J_ROOT_LOGLEVEL"])
def test_other_variables_are_left_alone(variable: str) -> None:
    assert worker_properties({variable: "x"}) == {}
