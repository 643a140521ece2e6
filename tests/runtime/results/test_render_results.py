"""Texts in IRIs are percent-encoded as R2RML asks, each by itself, however many need it."""

from urllib.parse import quote

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.write_texts import RESERVED, encode_texts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.text("a/% é\ue000")


@given(st.lists(TEXTS | st.from_regex(r"\A[A-Za-z0-9\-._~]*\Z")))
def test_all_are_encoded_as_each_is(texts: list[str]) -> None:
    assert encode_texts(pa.array(texts, pa.string())).to_pylist() == [
        RESERVED.sub(lambda match: quote(match[0], safe=""), t) for t in texts
    ]


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("Az09-._~", "Az09-._~"),
        ("", ""),
        ("a b", "a%20b"),
        ("a\n", "a%0A"),
        ("\n", "%0A"),
        ("a/b", "a%2Fb"),
        ("50%", "50%25"),
        ("Søftenvej", "Søftenvej"),
        ("^", "%5E"),
    ],
)
def test_what_is_encoded(text: str, encoded: str) -> None:
    for others in ([], ["plain"], ["æ", "/"]):
        found = encode_texts(pa.array([text, *others], pa.string())).to_pylist()
        assert found[0] == encoded
