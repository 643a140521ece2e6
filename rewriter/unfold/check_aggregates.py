"""Check that the arguments of aggregates have values that can be aggregated."""

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import (
    datatype_family,
    name_column_type,
    natural_datatype,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import ConstantOutput, LiteralOutput, NullOutput, SpjUnion
from ontoweir.rewriter.tmappings.find_shared_texts import find_shared_texts, refuse_shared_texts

_DISTINCT = (
    AggregateFunction.COUNT_DISTINCT,
    AggregateFunction.SUM_DISTINCT,
    AggregateFunction.AVG_DISTINCT,
    AggregateFunction.LIST_DISTINCT,
)
_ORDERED = (AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.QUANTILE)


def check_aggregates(union: SpjUnion, catalog: Catalog) -> None:
    """Nothing, if every aggregate can be computed in every disjunct.

    SUM, AVG, MEDIAN and PERCENTILE take numbers, QUANTILE numbers, dates or times, MIN and MAX
    texts and booleans too, the same in all disjuncts. COUNT and COUNT DISTINCT take any term. Of
    sets that are written as changes, texts tell the answers.

    Raises:
        QueryError: a value cannot be aggregated.
    """
    if union.aggregation is None:
        if union.ends:  # changes are written
            refuse_shared_texts(union, catalog)
        return
    for name in union.aggregation.group:
        _check_group(name, union, catalog)
    for aggregate in union.aggregation.aggregates:
        closing = union.ends or find_closing(union, catalog) is not None
        if aggregate.function.lists and not closing:
            raise QueryError(
                f"{aggregate} without a bucket of time, or a window",
                why="a list of all values has no limit; in these it is as long as their rows are",
                fix="group by a bucket of time too, as date_trunc('hour', ts), or ow:tumble(?t, "
                '"PT1H"^^xsd:dayTimeDuration) in SPARQL; or write a window, ts > NOW() - INTERVAL '
                "'1' HOUR; or select the rows, which come in the order of time",
                source=aggregate.source,
            )
        alone = aggregate.function is AggregateFunction.COUNT_DISTINCT and not closing
        if aggregate.function in _DISTINCT and not alone:  # which tells them apart
            for argument in aggregate.arguments:
                _refuse_equal(aggregate, argument, union, catalog)
        if aggregate.function not in (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT):
            for argument in aggregate.arguments:
                _check(aggregate, argument, union, catalog)


def _refuse_equal(aggregate: Aggregate, argument: str, union: SpjUnion, catalog: Catalog) -> None:
    """Raise QueryError for numbers of several datatypes, of which equal ones are different terms:
    they are compared as numbers, and would count once."""
    kinds = find_shared_texts(argument, union, catalog)
    outputs = [dict(query.outputs)[argument] for query in union.disjuncts]
    numbers = {
        o.datatype
        for o in outputs
        if isinstance(o, LiteralOutput | ConstantOutput) and datatype_family(o.datatype) == "number"
    }
    if kinds is None or len(numbers) < 2:
        return
    raise QueryError(
        f"{aggregate}: its values are {' and '.join(sorted(str(n) for n in numbers))}",
        why="equal numbers of different datatypes are different terms, and count twice",
        fix="make them of one datatype, as by BIND(xsd:double(?x) AS ?y); or map the property to "
        "terms of one datatype",
        source=aggregate.source,
    )


def _check_group(name: str, union: SpjUnion, catalog: Catalog) -> None:
    """Terms of several kinds are grouped only if they differ in their texts, too: an answer shows
    the text, so that of two groups of one text nobody could tell which row is whose."""
    kinds = find_shared_texts(name, union, catalog)
    if kinds is not None:
        raise QueryError(
            f"GROUP BY ?{name}: its values are {kinds[0]} and {kinds[1]}",
            why="terms that differ in datatype, language or kind are different groups, even where "
            "their texts are the same, and an answer shows the text alone",
            fix="write one query for each, or map the property to terms of one kind",
            source=union.source,
        )


def _check(aggregate: Aggregate, argument: str, union: SpjUnion, catalog: Catalog) -> None:
    families: dict[str, ColumnType] = {}
    for query in union.disjuncts:
        output = next(o for name, o in query.outputs if name == argument)
        if not isinstance(output, LiteralOutput | NullOutput):
            raise QueryError(
                f"{aggregate} aggregates values that are not literals of a column",
                why=f"{aggregate.function} is computed over the values of columns",
                fix="aggregate a property whose object map is a column, or use COUNT",
                source=aggregate.source,
            )
        kind = Types(catalog, query.occurrences).type_of(output.value)
        if isinstance(kind, StringType | BooleanType) and isinstance(output, LiteralOutput):
            _refuse_terms(aggregate, output, kind)
        families.setdefault(_family(aggregate, kind, str(output.value)), kind)
    if len(families) > 1:
        raise QueryError(
            f"{aggregate} aggregates values of different types: "
            + " and ".join(map(name_column_type, families.values())),
            why="they are not comparable",
            fix="write one query for each, or map columns of one type to the property",
            source=aggregate.source,
        )


def _refuse_terms(
    aggregate: Aggregate, output: LiteralOutput, kind: StringType | BooleanType
) -> None:
    """Texts with a language have no order, and those of another datatype not that of texts."""
    if not (aggregate.function.chooses or aggregate.function.lists):
        return
    if output.language is not None or output.datatype not in (None, natural_datatype(kind)):
        what = f"language {output.language}" if output.language else f"datatype {output.datatype}"
        raise QueryError(
            f"{aggregate} of texts with the {what}",
            why=f"{aggregate.function} of texts is by their code points, which is their order only "
            "where they are plain texts",
            fix="map the column without it, or aggregate STR(?x) in a BIND",
            source=aggregate.source,
        )


def _family(aggregate: Aggregate, kind: ColumnType, column: str) -> str:
    ordered = aggregate.function in _ORDERED
    match kind:
        case StringType() if aggregate.function.lists:
            return "text"
        case _ if aggregate.function.lists:
            raise QueryError(
                f"{aggregate} of {column}, which is {name_column_type(kind)}",
                why="texts are put together",
                fix="write CAST(x AS STRING), in SPARQL STR(?x), for x",
                source=aggregate.source,
            )
        case IntType() | DecimalType():
            return "number"
        case FloatType() if aggregate.function.adds_distinct:
            raise QueryError(
                f"{aggregate} of floating-point numbers",
                why="of distinct values whole numbers and decimals are added",
                fix="take the distinct values in a subquery, SELECT DISTINCT …, and their "
                f"{aggregate.function.split()[0]} in the query around it",
                source=aggregate.source,
            )
        case FloatType():
            return "number"
        case DateType() | TimestampType() if ordered:
            return name_column_type(kind)
        case StringType() | BooleanType() if aggregate.function.chooses:
            return name_column_type(kind)
        case DateType() | TimestampType() | StringType() | BooleanType():
            words = "numbers, dates and times" if ordered else "numbers"
            raise QueryError(
                f"{aggregate.function} of {column}, which is {name_column_type(kind)}",
                why=f"{aggregate.function} takes {words}",
                fix="aggregate another property, or use MIN, MAX, COUNT or COUNT(DISTINCT …)",
                source=aggregate.source,
            )
