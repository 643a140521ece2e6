"""The rows of an aggregate SELECT within a SPARQL query, as triples that mappings make of a stream
of its answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count
from typing import assert_never

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSource,
    SourceColumn,
    SourceTable,
    TemplateMap,
    TermKind,
    TermMap,
)
from ontoweir.mappings.model.catalog import Catalog, ColumnType
from ontoweir.mappings.model.column_types import natural_datatype
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective, term_kind
from ontoweir.rewriter.blocks.make_answers import make_answers
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.query import ANSWERS, InnerSelect
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Block,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    output_attributes,
)
from ontoweir.rewriter.tmappings.may_meet import list_atoms_of, may_meet

_ALIAS = "answers"
_SQL_BUCKET = "date_trunc('hour', ts)"
_SQL_VIEW = "declare a relation with this SQL as its view"
_SPARQL_VIEW = "write DISTINCT in the outermost SELECT, or a pattern that has each solution once"
_SPARQL_BUCKET = '(ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?hour)'


@dataclass(frozen=True, slots=True)
class MappedAnswers:
    """`catalog`: with the streams of answers; `blocks`: what these are of; `assertions`: make their
    triples; `behind_us`: variables that are so long before the time when a row is final."""

    catalog: Catalog
    blocks: tuple[Block, ...]
    assertions: tuple[MappingAssertion, ...]
    behind_us: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Term:
    """How a variable of the group is made of columns: the term without them, and their types."""

    output: Output
    types: tuple[ColumnType, ...]


def map_answers(
    inner: InnerSelect, union: SpjUnion, catalog: Catalog, graphs: Sequence[str]
) -> MappedAnswers:
    """The rows of an aggregate SELECT, or of SELECT DISTINCT, within a query.

    A group, or a solution of a set, is told apart by the columns that its terms are made of, so
    these are the columns of the stream, with their domains and as its key. Where the terms of a
    variable have several forms, the rows of each are a stream of their own.

    Args:
        inner: the SELECT.
        union: its query over tables.
        catalog: the tables.
        graphs: that the query around it asks; none: the default graph.

    Raises:
        QueryError: its groups are not final, a variable may have no value, or a term does not tell
            what it is made of.
    """
    if union.aggregation is None:  # the set of its solutions
        shown = union.variables
        union = replace(union, aggregation=Aggregation(shown, (), shown))
    assert union.aggregation is not None
    _refuse_nulls(union)
    whole = extend_catalog(catalog, union)
    forms: dict[tuple[_Term, ...], list[SpjQuery]] = {}
    for query in union.disjuncts:
        terms = tuple(_read_term(n, query, whole, union.source) for n in union.aggregation.group)
        forms.setdefault(terms, []).append(query)
    _refuse_meeting(union, list(forms.values()), whole)
    blocks: list[Block] = []
    assertions: list[MappingAssertion] = []
    behind: dict[str, int] | None = None
    if not forms:  # nothing matches its pattern
        never = [inner.predicate(v) for v in ("", *inner.variables)]
        assertions += [_assert_never(iri, union.source) for iri in never]
        behind = dict.fromkeys(inner.times, 0)
    for terms, disjuncts in forms.items():
        made, columns = _split_terms(replace(union, disjuncts=tuple(disjuncts)), terms)
        try:
            answers, block = make_answers(made, union.name, catalog, times=inner.times)
        except SqlRefusal as refusal:
            fix = refusal.fix.replace(_SQL_BUCKET, _SPARQL_BUCKET).replace(", with AS", "")
            fix = fix.replace(_SQL_VIEW, _SPARQL_VIEW)
            raise QueryError(refusal.what, why=refusal.why, fix=fix, source=union.source) from None
        catalog = answers.catalog
        blocks.append(block)
        found = {n: us for n, us in answers.columns if us is not None}
        if behind is not None and behind != found:
            raise _refuse(
                "a subquery whose groups are final at different times",
                "terms of several forms are several streams of answers, whose times differ",
                "write one query for each form, under UNION",
                union.source,
            )
        behind = found
        assertions += _assert_rows(inner, block, columns, graphs, union.source)
    return MappedAnswers(catalog, tuple(blocks), tuple(assertions), behind or {})


def _refuse(what: str, why: str, fix: str, source: Source | None) -> QueryError:
    return QueryError(what, why=why, fix=fix, source=source)


def _refuse_nulls(union: SpjUnion) -> None:
    """Raise QueryError where a variable of a row may have no value."""
    aggregation = union.aggregation
    assert aggregation is not None
    outputs = [o for query in union.disjuncts for o in query.outputs]
    absent = [n for n, o in outputs if isinstance(o, NullOutput) and n in aggregation.group]
    present = {*aggregation.row, *(a.name for a in aggregation.aggregates)}
    absent += [name for name, made in aggregation.computed if may_be_null(made, present)]
    if absent:
        raise _refuse(
            f"?{absent[0]} of a subquery may have no value",
            "a row of it would be a solution in which the variable is unbound",
            f"keep such solutions away by a FILTER in its pattern, or give ?{absent[0]} a value "
            "with COALESCE",
            union.source,
        )


def _read_term(name: str, query: SpjQuery, catalog: Catalog, source: Source | None) -> _Term:
    """The form of a variable's term in a disjunct."""
    output, types = dict(query.outputs)[name], Types(catalog, query.occurrences)
    if not is_injective(output, types):
        raise _refuse(
            f"?{name} of a subquery is a term whose columns cannot be told from its text",
            "groups are told apart by their terms, and read by their columns",
            "put a text between the columns of the template that no value has, such as /",
            source,
        )
    kinds = tuple(types.type_of(a) for a in output_attributes(output))
    return _Term(_with(output, [Attribute("", "") for _ in kinds]), kinds)


def _with(output: Output, columns: Sequence[Attribute]) -> Output:
    """A term with other columns, in order."""
    match output:
        case LiteralOutput() | NullOutput():
            return replace(output, value=columns[0])
        case ConstantOutput():
            return output
        case IriOutput() | BlankOutput() | TemplateLiteralOutput():
            rest = iter(columns)
            return replace(
                output,
                parts=tuple(next(rest) if isinstance(p, Attribute) else p for p in output.parts),
            )
        case _:
            assert_never(output)


def _refuse_meeting(union: SpjUnion, forms: Sequence[Sequence[SpjQuery]], catalog: Catalog) -> None:
    """Raise QueryError where terms of different forms may be equal, and so of one group."""
    assert union.aggregation is not None
    for some, others in combinations(forms, 2):
        if not any(_are_apart(n, some[0], others[0], catalog) for n in union.aggregation.group):
            raise _refuse(
                "a subquery whose groups have terms of several forms that may be equal",
                "rows of different columns would be one group",
                "write one query for each form, under UNION, or map the terms alike",
                union.source,
            )


def _are_apart(name: str, one: SpjQuery, other: SpjQuery, catalog: Catalog) -> bool:
    """Whether a variable never has one value in both."""
    left, right = dict(one.outputs)[name], dict(other.outputs)[name]
    if term_kind(left) != term_kind(right):
        return True
    atoms = (
        list_atoms_of(output, Types(catalog, query.occurrences))
        for output, query in ((left, one), (right, other))
    )
    return not may_meet(*atoms)


def _split_terms(
    union: SpjUnion, terms: Sequence[_Term]
) -> tuple[SpjUnion, dict[str, tuple[Output, tuple[str, ...]]]]:
    """The query grouped by the columns of its terms; and of each variable of the group its term,
    and the columns."""
    aggregation = union.aggregation
    assert aggregation is not None
    taken = {*aggregation.columns, *aggregation.variables, *aggregation.row}
    columns: dict[str, tuple[Output, tuple[str, ...]]] = {}
    for name, term in zip(aggregation.group, terms, strict=True):
        if isinstance(term.output, LiteralOutput) and term.output.language is None:
            columns[name] = term.output, (name,)
            continue
        names = []
        for number, _ in enumerate(term.types, 1):
            wanted = (f"{name}_{number}{'_' * n}" for n in count())
            names.append(next(n for n in wanted if n not in taken))
            taken.add(names[-1])
        columns[name] = term.output, tuple(names)
    made = _group_by(aggregation, {n: named for n, (_, named) in columns.items()})
    disjuncts = []
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        for name, (_, named) in columns.items():
            of = output_attributes(outputs[name])
            if named != (name,):
                outputs |= {n: LiteralOutput(a) for n, a in zip(named, of, strict=True)}
        disjuncts.append(replace(query, outputs=tuple((n, outputs[n]) for n in made.variables)))
    return (
        replace(union, variables=made.variables, disjuncts=tuple(disjuncts), aggregation=made),
        columns,
    )


def _group_by(aggregation: Aggregation, columns: Mapping[str, tuple[str, ...]]) -> Aggregation:
    """An aggregation with columns in the place of the group's variables."""

    def put(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(made for name in names for made in columns.get(name, (name,)))

    return replace(aggregation, group=put(aggregation.group), columns=put(aggregation.columns))


def _assert_rows(
    inner: InnerSelect,
    block: Block,
    columns: Mapping[str, tuple[Output, tuple[str, ...]]],
    graphs: Sequence[str],
    source: Source | None,
) -> Iterator[MappingAssertion]:
    """What makes the triples of a row."""
    stream = block.stream
    if not stream.keys:
        raise _refuse(
            "a subquery whose buckets of time are shorter than a step",
            "several groups of one value would be final at one time",
            "write buckets that are not shorter than the unit of its stream",
            source,
        )
    place = source or Source(block.union.name)
    key = [c for c in stream.keys[0] if c != stream.timestamp]
    row: list[str | SourceColumn] = [f"{inner.prefix}{stream.name}"]
    for name in key:
        row += ["/", SourceColumn(_ALIAS, name)]
    subject: TermMap = TemplateMap(tuple(row), "iri") if key else ConstantMap(str(row[0]), True)
    named = tuple(ConstantMap(graph, True) for graph in graphs)

    def make(predicate: str, value: TermMap | None) -> MappingAssertion:
        return MappingAssertion(
            f"the subquery {stream.name}",
            predicate,
            MappingSource((SourceTable(_ALIAS, stream.name),)),
            subject,
            value,
            place,
            stream_alias=_ALIAS,
            graphs=named,
        )

    yield make(inner.predicate(""), None)
    shown = {c.name: natural_datatype(c.type) for c in stream.columns}
    for name in inner.variables:
        if name in columns:
            output, of = columns[name]
            if shown.keys() >= set(of):
                yield make(inner.predicate(name), _map_term(output, of))
        elif name in shown:
            column = SourceColumn(_ALIAS, name)
            yield make(inner.predicate(name), ColumnMap(column, shown[name]))


def _assert_never(iri: str, source: Source | None) -> MappingAssertion:
    """What makes a property known, and is in no graph that is asked."""
    nothing = ConstantMap(ANSWERS, True)
    return MappingAssertion(
        "a subquery without answers",
        iri,
        MappingSource(()),
        nothing,
        nothing,
        source or Source(""),
        graphs=(nothing,),
    )


def _map_term(output: Output, names: Sequence[str]) -> TermMap:
    """A term map of the stream's columns."""
    columns = [SourceColumn(_ALIAS, name) for name in names]

    def template(parts: Sequence[str | Attribute], kind: TermKind) -> TemplateMap:
        rest = iter(columns)
        return TemplateMap(
            tuple(next(rest) if isinstance(p, Attribute) else p for p in parts), kind
        )

    match output:
        case LiteralOutput(datatype=datatype, language=language):
            return ColumnMap(columns[0], datatype, language)
        case ConstantOutput(value=value, is_iri=is_iri, datatype=datatype, language=language):
            return ConstantMap(value, is_iri, datatype, language)
        case IriOutput(parts=parts):
            return template(parts, "iri")
        case BlankOutput(parts=parts):
            return template(parts, "blank")
        case TemplateLiteralOutput(parts=parts, datatype=datatype, language=language):
            return replace(template(parts, "literal"), datatype=datatype, language=language)
        case NullOutput():
            raise AssertionError("refused before")
        case _:
            assert_never(output)
