"""Which values can be aggregated, and what is said of the others."""

import pytest

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    Attribute,
    IriOutput,
    LiteralOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates

TYPES: dict[str, ColumnType] = {
    "i": IntType(),
    "d": DecimalType(5, 1),
    "f": FloatType(),
    "s": StringType(),
    "b": BooleanType(),
    "day": DateType(),
    "time": TimestampType(),
}
CATALOG = Catalog(
    {},
    {"r": Relation("r", DataSource("csv", "r"), tuple(Column(n, t) for n, t in TYPES.items()))},
)
PLACE = Source("q.rq", 2)


def union(function: str, *columns: str) -> SpjUnion:
    aggregate = Aggregate("a", AggregateFunction(function), "v", PLACE)

    def disjunct(column: str) -> SpjQuery:
        output: Output = LiteralOutput(Attribute("r", column))
        if column == "iri":
            output = IriOutput(("http://e/", Attribute("r", "i")))
        return SpjQuery((Occurrence("r", "r"),), (), (("v", output),))

    made = Aggregation((), (aggregate,), ("a",))
    return SpjUnion("q", ("v",), tuple(map(disjunct, columns)), False, aggregation=made)


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        *(
            (f, ("i",))
            for f in AggregateFunction
            if f is not AggregateFunction.COUNT and not f.lists
        ),
        *((f, ("i", "d")) for f in ("SUM", "AVG", "MIN", "MEDIAN")),
        *(("COUNT DISTINCT", (c,)) for c in (*TYPES, "iri")),
        *((f, ("f",)) for f in ("SUM", "AVG", "MIN", "MAX", "MEDIAN")),
        ("AVG", ("i", "f")),
        *((f, (c,)) for f in ("MIN", "MAX") for c in ("day", "time", "s", "b")),
    ],
)
def test_can_be_aggregated(function: str, columns: tuple[str, ...]) -> None:
    check_aggregates(union(function, *columns), CATALOG)


@pytest.mark.parametrize(
    ("function", "columns", "what"),
    [
        ("SUM", ("day",), "SUM of r.day, which is date"),
        ("MEDIAN", ("time",), "MEDIAN of r.time, which is timestamp"),
        ("QUANTILE", ("s",), "QUANTILE of r.s, which is string"),
        ("MEDIAN", ("b",), "MEDIAN of r.b, which is boolean"),
        ("MAX", ("s", "i"), "values of different types: string and int"),
        ("SUM DISTINCT", ("s",), "SUM DISTINCT of r.s, which is string"),
        ("AVG DISTINCT", ("f",), "of floating-point numbers"),
        ("MAX", ("iri",), "not literals of a column"),
        ("MAX", ("i", "day"), "values of different types: int and date"),
    ],
)
def test_cannot_be_aggregated(function: str, columns: tuple[str, ...], what: str) -> None:
    with pytest.raises(QueryError, match=what) as caught:
        check_aggregates(union(function, *columns), CATALOG)
    assert caught.value.source == PLACE
