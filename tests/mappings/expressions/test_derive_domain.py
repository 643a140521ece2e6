"""Domains of what is computed of a time: every value lies in it."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.expressions.derive_domain import Finite, derive_domain
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.model.catalog import StringType, TimestampType
from ontoweir.mappings.model.expression import Call, Field, Function, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.integers(-(10**15), 4 * 10**15)


def formatted(text: str) -> Call:
    arguments = (Field("ts", TimestampType()), Value(text, StringType()))
    return Call(Function.FORMAT, arguments, StringType())


@pytest.mark.parametrize(
    ("text", "most"),
    [("%H", 24), ("%H:%M", 1440), ("%m-%d", 372), ("day %d, %H h", 744), ("at T", 1)],
)
@given(us=st.lists(TIMES, min_size=1, max_size=20))
def test_formats_without_years_have_few_values(text: str, most: int, us: list[int]) -> None:
    call = formatted(text)
    domain = derive_domain(call, ())
    assert isinstance(domain, Finite)
    assert len(domain.values) == most
    times = pa.array([EPOCH + timedelta(microseconds=n) for n in us], pa.timestamp("us"))
    assert set(evaluate(call, {"ts": times}, len(us)).to_pylist()) <= domain.values


@pytest.mark.parametrize("text", ["%Y", "%Y-%m", "%H:%M:%S", "%m-%d %H"])
def test_others_are_not_listed(text: str) -> None:
    assert derive_domain(formatted(text), ()) is None
