"""Which rows of groups are answers, and which of them say something new."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import BooleanType, IntType
from ontoweir.mappings.model.expression import Call, Field, Function, Value
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.runtime.groups.shape_rows import find_fresh, shape_rows
from ontoweir.runtime.results.render_results import INSTANT

N = Field("n", IntType())
MANY = Call(Function.GREATER, (N, Value(1, IntType())), BooleanType())
PARITY = Call(Function.MODULO, (N, Value(2, IntType())), IntType())
COUNT = Aggregate("n", AggregateFunction.COUNT, None)


def make_rows(*rows: tuple[str, int | None, int]) -> pa.Table:
    groups, counts, times = zip(*rows, strict=True)
    at = pa.array(times).cast(INSTANT)
    return pa.table({"g": list(groups), "n": pa.array(counts, pa.int64()), "at": at})


def test_rows_that_have_it_are_shown_as_asked() -> None:
    aggregation = Aggregation(("g",), (COUNT,), ("odd", "g"), (("odd", PARITY),), MANY)
    shown = shape_rows(
        aggregation, make_rows(("x", 1, 1), ("y", 2, 1), ("x", 3, 2), ("z", None, 3))
    )
    assert shown.column_names == ["odd", "g", "at"]
    assert shown.select(["odd", "g"]).to_pydict() == {"odd": [0, 1], "g": ["y", "x"]}
    assert shape_rows(aggregation, make_rows(("x", 1, 1))).schema == shown.schema


def test_a_row_that_says_nothing_new_is_none() -> None:
    """Of x the second row is the first that has it, and the third shows the same; y had it."""
    aggregation = Aggregation(("g",), (COUNT,), ("g",), (), MANY)
    rows = make_rows(("y", 2, 0), ("x", 1, 1), ("x", 2, 2), ("x", 3, 3), ("y", 3, 2))
    fresh = find_fresh(aggregation, rows, np.array([1, 0, 0, 0, 1]), 1)
    assert fresh.tolist() == [False, True, False, False]


def test_what_is_computed_tells_rows_apart() -> None:
    aggregation = Aggregation(("g",), (COUNT,), ("g", "odd"), (("odd", PARITY),))
    rows = make_rows(("x", 1, 0), ("x", 3, 1), ("x", 4, 2), ("x", 6, 3), ("x", 7, 4))
    fresh = find_fresh(aggregation, rows, np.array([0, 0, 0, 0, 0]), 1)
    assert fresh.tolist() == [False, True, False, True]
