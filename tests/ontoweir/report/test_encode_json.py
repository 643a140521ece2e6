"""JSON is what json.dumps writes, byte for byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.report.encode_json import encode_json

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
)


@given(VALUES)
def test_it_is_what_the_library_writes(value: Any) -> None:
    assert encode_json(value) == json.dumps(value, indent=2, ensure_ascii=False)


@given(VALUES, VALUES)
def test_objects_that_are_there_several_times(one: Any, other: Any) -> None:
    value = [one, {"a": one, "b": [other, one, {"c": other}]}, other]
    assert encode_json(value) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("value", [{1: 2}, [object()], {"a": {1, 2}}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        encode_json(value)
