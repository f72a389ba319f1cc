from __future__ import annotations

import pytest

from penstock.kafka.jaas import parse_jaas
from penstock.kernel.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            'a.b.PlainLoginModule required username="u" password="p";',
            {"username": "u", "password": "p"},
        ),
        (
            "PlainLoginModule required\n username='u'\n password=p ;  ",
            {"username": "u", "password": "p"},
        ),
        (r'PlainLoginModule required password="a\"b\\c;=\n\101";', {"password": 'a"b\\c;=\nA'}),
        ('PlainLoginModule Required username="";', {"username": ""}),
        ("ScramLoginModule required;", {}),
    ],
)
def test_options(text: str, options: dict[str, str]) -> None:
    module = parse_jaas(text)
    assert module.options == options
    assert module.kind.endswith("LoginModule")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PlainLoginModule required password=topsecret",
        'PlainLoginModule required password="topsecret;',
        "PlainLoginModule password=topsecret;",
        "PlainLoginModule required password topsecret;",
        "A required password=topsecret; B required;",
    ],
)
def test_wrong_texts_are_refused_without_showing_them(text: str) -> None:
    with pytest.raises(ConfigError, match=r"sasl\.jaas\.config") as caught:
        parse_jaas(text)
    assert "topsecret" not in str(caught.value)
