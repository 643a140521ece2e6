"""The order of texts is that of their code points, however many bytes they share."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.pool.order_texts import order_texts
from ontoweir.runtime.pool.text_table import TEXT

ENDS = st.text(max_size=12) | st.text("ab\0", max_size=12)


@given(st.text(max_size=10), st.lists(ENDS, max_size=40), st.booleans())
def test_the_order_is_that_of_code_points(shared: str, ends: list[str], cut: bool) -> None:
    texts = [shared + end for end in ends]
    column = (
        pa.array(["zz", *texts, ""], TEXT).slice(1, len(texts)) if cut else pa.array(texts, TEXT)
    )
    assert order_texts(column).tolist() == sorted(range(len(texts)), key=texts.__getitem__)


@pytest.mark.parametrize(
    "texts",
    [
        ["same", "same", "same"],
        ["", "", "\0"],
        ["a", "a\0", "a\0\0"],
        ["12345678", "123456789", "12345678\0", "1234567"],
        ["\ufffe", "\U00010000", "é", "z"],
    ],
)
def test_near_texts(texts: list[str]) -> None:
    for some in (texts, texts[::-1]):
        order = order_texts(pa.array(some, TEXT)).tolist()
        assert order == sorted(range(len(some)), key=some.__getitem__)


@given(st.text(max_size=3), st.lists(st.text("ab~\0", min_size=9, max_size=9), max_size=40))
def test_texts_of_one_length(shared: str, ends: list[str]) -> None:
    """Their bytes behind what they share are seen as they are."""
    texts = [shared + end for end in ends]
    column = pa.array(["before", *texts, "behind"], TEXT).slice(1, len(texts))
    assert order_texts(column).tolist() == sorted(range(len(texts)), key=texts.__getitem__)
