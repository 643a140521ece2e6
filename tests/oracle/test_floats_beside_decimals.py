"""Doubles in a query with decimals are in units of these: what they equal, and what is shown."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import (
    Column,
    DataSource,
    DecimalType,
    FloatType,
    Relation,
    Stream,
)
from ontoweir.runtime.columnar.encode import scale_floats, unscale_floats
from ontoweir.runtime.statics.gather_statistics import gather_statistics
from tests.oracle.random_queries import R
from tests.oracle.test_kernel_against_oracle import _case, _check_run, _one_by_one, _oracle

_NOWHERE = DataSource("parquet", None)
_LONG = (4.0973523936194685, 1.6527635528529094, 81.32702392002724, 0.734058095260224)


def _stream(name: str, column: Column) -> Stream:
    return Stream(name, _NOWHERE, "ts", 1, R, (column,))


@pytest.mark.parametrize("value", _LONG)
@pytest.mark.parametrize(
    "condition",
    [
        "t.f = {0}",
        "t.f >= {0}",
        "t.f <= {0}",
        "t.f = r.w",
        "t.f > 0",
        "t.f = u.f AND u.f = {0}",
        "u.f <= t.f AND t.f = {0}",
        "u.f >= t.f AND t.f = {0} AND t.ts < u.ts",
        "t.f <= u.f AND u.f <= {0} AND t.f >= {0} AND t.ts < u.ts",
    ],
)
def test_a_double_equals_its_constant(condition: str, value: float) -> None:
    """Of a selection, a declared domain, or static data."""
    column = Column("f", FloatType(), None, None, (value, 0.5))
    domain = Column("f", FloatType(), value, value)
    relation = Relation("r", _NOWHERE, (Column("w", FloatType()),))
    for tight in (Column("f", FloatType()), column, domain):
        case = _case(
            f"SELECT 1 AS one FROM s, t, u, r WHERE s.d > 0 AND {condition.format(value)}",
            [
                _stream("s", Column("d", DecimalType(6, 1))),
                _stream("t", tight),
                _stream("u", tight),
            ],
            {
                "s": (["d", "ts"], [(1, 0)]),
                "t": (["f", "ts"], [(value, 0)]),
                "u": (["f", "ts"], [(value, 0), (value, 1)]),
                "r": (["w"], [(value,)]),
            },
            [relation],
        )
        statistics = gather_statistics({"r": pa.table({"w": [value]})})
        for known in (statistics, None):
            verdict = check_query(case.query, case.catalog, statistics=known)
            expected = _oracle(case)
            assert expected[-1]
            if verdict.plans:
                _check_run(case, verdict.plans, _one_by_one(case), expected)
            else:
                assert condition.startswith(("u.f", "t.f <= u.f"))


@given(
    number=st.integers(-(10**12), 10**12),
    places=st.integers(0, 9),
    unit=st.sampled_from([1, 10, 100, 1000, 10**6]),
)
def test_a_decimal_double_is_shown_as_it_came(number: int, places: int, unit: int) -> None:
    column = np.array([number / 10**places])
    assert unscale_floats(scale_floats(column, unit), unit).tolist() == column.tolist()


@given(
    value=st.floats(-1e12, 1e12),
    unit=st.sampled_from([1, 10, 100, 1000, 10**6]),
)
def test_what_is_shown_is_what_is_compared(value: float, unit: int) -> None:
    code = scale_floats(np.array([value]), unit)
    shown = unscale_floats(code, unit)
    assert scale_floats(shown, unit).tolist() == code.tolist()
    assert abs(shown[0] - value) <= np.spacing(abs(value))


@pytest.mark.parametrize("condition", ["t.f = u.f", "t.f < u.f", "t.f <> u.f", "t.f >= u.f"])
@pytest.mark.parametrize("near", [1.3000000000000005, 1.7e308, 5e-324])
def test_doubles_that_no_decimal_is_compared_with_are_as_they_are(
    condition: str, near: float
) -> None:
    """In hundredths the first is one number with its neighbour, and the second infinite."""
    floats = Column("f", FloatType())
    other = float(np.nextafter(near, np.inf))
    case = _case(
        f"SELECT t.f AS x, u.f AS y FROM s, t, u "
        f"WHERE s.d > 0.05 AND {condition} AND s.ts = t.ts AND u.ts = t.ts",
        [_stream("s", Column("d", DecimalType(6, 2))), _stream("t", floats), _stream("u", floats)],
        {
            "s": (["d", "ts"], [(1, 0)]),
            "t": (["f", "ts"], [(near, 0), (other, 0)]),
            "u": (["f", "ts"], [(near, 0), (other, 0)]),
        },
    )
    verdict = check_query(case.query, case.catalog)
    assert verdict.plans
    expected = _oracle(case)
    assert 1 <= sum(expected[-1].values()) <= 4
    _check_run(case, verdict.plans, _one_by_one(case), expected)
