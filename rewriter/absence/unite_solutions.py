"""The one query that reads the answers of several, beside which patterns match, or do not."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import count

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    StringType,
)
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.algebra.is_injective import term_kind
from ontoweir.rewriter.blocks.declare_absence import declare_absence
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    AbsencePart,
    Attribute,
    BlankOutput,
    Block,
    Condition,
    ConstantOutput,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    output_attributes,
)


@dataclass(frozen=True, slots=True)
class Solutions:
    """Solutions as unfolded: of answer variables, variables that parts depend on, and `times`;
    `parts`: of the `keys` beside which a pattern matches, and whether it must; `missing`: the
    answer variables without a value."""

    found: SpjUnion
    times: tuple[str, ...]
    parts: tuple[tuple[SpjUnion, tuple[str, ...], bool], ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uniting:
    """How solutions become streams. `plain`: alternatives without parts are matches as those of any
    query, and no stream; `held`: answers may be told later than they are final, so that all are so
    long after their time, or this one of their times: those of buckets, which are told when these
    are over."""

    plain: bool = False
    held: bool | str = False


def unite_solutions(
    name: str,
    head: Sequence[str],
    alternatives: Sequence[Solutions],
    catalog: Catalog,
    *,
    distinct: bool,
    source: Source,
    how: "Uniting | None" = None,
) -> SpjUnion:
    """The query whose answers are those of all alternatives together.

    Args:
        name: what it is called.
        head: its answer variables.
        alternatives: solutions, each a stream of answers that are final.
        catalog: the tables.
        distinct: set semantics.
        source: where it is.
        how: they become streams (None: each when it is final).

    Raises:
        QueryError: answers are never final; or of a variable it is not known what they are.
    """
    how = how or Uniting()
    taken = {*catalog.streams, *catalog.relations}
    names = (n for k in count(1) if (n := f"{name}_{k}") not in taken)
    there = [one for one in alternatives if one.found.disjuncts]
    alone = [one for one in there if how.plain and _is_alone(one)]
    made = [
        _declare(one, next(names), head, catalog, source, held=how.held)
        for one in there
        if one not in alone
    ]
    kinds = _list_types([one.found for one in alone], catalog)
    for block in made:
        for variable, (output, _) in block.shown.items():
            if isinstance(output, LiteralOutput):
                kinds.setdefault(variable, block.types[output.value.column])
    blocks, disjuncts = [], []
    union = SpjUnion(name, tuple(head), (), distinct, source)
    for matches in alone:
        read = [v.name for one in there for u in _unions_of(one) for v in u.views]
        union = _add_matches(union, matches.found, {*taken, *read, *(v.name for v in union.views)})
    for one in made:
        stream = one.block.stream
        empty = [n for n in head if n not in one.shown]
        columns = (Column(f"no {n}", kinds.get(n, StringType()), enum=()) for n in empty)
        stream = replace(stream, columns=(*stream.columns, *columns))
        blocks.append(replace(one.block, stream=stream))
        nulls = {n: Attribute(stream.name, f"no {n}") for n in empty}
        outputs = tuple((n, NullOutput(nulls[n]) if n in nulls else one.shown[n][0]) for n in head)
        values = dict.fromkeys(a for n in head if n in one.shown for a in one.shown[n][1])
        conditions: tuple[Condition, ...] = tuple(NotNull(a) for a in values)
        conditions += tuple(IsNull(a) for a in nulls.values())
        occurrence = Occurrence(stream.name, stream.name)
        disjuncts.append(SpjQuery((occurrence,), conditions, outputs))
    return replace(union, disjuncts=(*union.disjuncts, *disjuncts), blocks=tuple(blocks))


def _list_types(unions: Sequence[SpjUnion], catalog: Catalog) -> dict[str, ColumnType]:
    """The types of the variables that are literals of columns."""
    kinds: dict[str, ColumnType] = {}
    for union in unions:
        wide = extend_catalog(catalog, union)
        for query in union.disjuncts:
            types = Types(wide, query.occurrences)
            for name, output in query.outputs:
                if isinstance(output, LiteralOutput):
                    kinds.setdefault(name, types.type_of(output.value))
    return kinds


def _is_alone(one: Solutions) -> bool:
    """Whether solutions are matches of one query, with a value for each answer variable."""
    found = one.found
    nothing = not (one.parts or one.missing or found.blocks or found.ends or found.begins)
    return nothing and found.step_us is None


def _unions_of(one: Solutions) -> list[SpjUnion]:
    return [one.found, *(hits for hits, _, _ in one.parts)]


def _add_matches(union: SpjUnion, found: SpjUnion, taken: Set[str]) -> SpjUnion:
    """A query with the matches of another one, and what these are made of."""
    found = rename_views(found, taken)
    names = union.variables
    return replace(
        union,
        disjuncts=(
            *union.disjuncts,
            *(
                replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in names))
                for q in found.disjuncts
            ),
        ),
        views=(*union.views, *found.views),
        buckets=tuple(dict.fromkeys((*union.buckets, *found.buckets))),
        derived=tuple(dict.fromkeys((*union.derived, *found.derived))),
        hidden=tuple(dict.fromkeys((*union.hidden, *found.hidden))),
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """A block; and what each answer variable is, of which of its columns, with their types."""

    block: Block
    shown: dict[str, tuple[Output, tuple[Attribute, ...]]]
    types: dict[str, ColumnType]


def _declare(
    one: Solutions,
    name: str,
    head: Sequence[str],
    catalog: Catalog,
    source: Source,
    *,
    held: bool | str,
) -> _Made:
    found = replace(one.found, name=name, aggregation=None)
    wide = extend_catalog(catalog, found)
    _check_times(found, one.times, wide, source)
    variables = [n for n in found.variables if n not in one.times]
    keys = [n for n in found.variables if any(n in k for _, k, _ in one.parts)]
    _check_kinds(found, one.parts, catalog, source)
    shown: dict[str, tuple[Output, tuple[Attribute, ...]]] = {}
    added: list[list[tuple[str, Output]]] = [[] for _ in found.disjuncts]
    for variable in (n for n in variables if n in head):
        outputs = [dict(q.outputs)[variable] for q in found.disjuncts]
        first = outputs[0]
        kind = _find_kind(variable, found, source)
        if isinstance(first, ConstantOutput) and all(o == first for o in outputs):
            shown[variable] = first, ()
        elif _is_alike(outputs, found, wide):
            names = []
            for place in range(len(output_attributes(first))):
                names.append(f"{variable} {place}")
                for q, output in enumerate(outputs):
                    value = output_attributes(output)[place]
                    added[q].append((names[-1], LiteralOutput(value)))
            shown[variable] = _rebuild(first, [Attribute(name, n) for n in names])
        else:
            text = Attribute(name, variable)
            shown[variable] = _read_text(first, kind, text), (text,)
    for variable in (n for n in one.times if n in head):
        moment = Attribute(name, variable)
        datatype = dict(found.disjuncts[0].outputs)[variable]
        assert isinstance(datatype, LiteralOutput)
        shown[variable] = replace(datatype, value=moment), (moment,)
    disjuncts = tuple(
        replace(q, outputs=(*q.outputs, *more))
        for q, more in zip(found.disjuncts, added, strict=True)
    )
    more = tuple(n for n, _ in added[0]) if added else ()
    found = replace(found, disjuncts=disjuncts, variables=(*found.variables, *more))
    parts = [
        AbsencePart(replace(hits, name=f"{name}, what is beside"), (), present)
        for hits, _, present in one.parts
    ]
    until = held if isinstance(held, bool) or held in one.times else True
    block, _ = declare_absence(found, parts, keys, one.times, catalog, shown=head, held=until)
    types = {c.name: c.type for c in block.stream.columns}
    return _Made(block, shown, types)


def _check_times(found: SpjUnion, times: Sequence[str], wide: Catalog, source: Source) -> None:
    """Raise QueryError for solutions of rows whose time no variable is."""
    for query in found.disjuncts:
        outputs = dict(query.outputs)
        equal = EqualityClasses(query.occurrences, query.conditions)
        stamps = {
            o.alias: equal.find(Attribute(o.alias, wide.streams[o.table].timestamp))
            for o in query.occurrences
            if o.table in wide.streams
        }
        dated = {stamps[a.alias] for n in times for a in output_attributes(outputs[n])}
        if not stamps or not dated.issuperset(stamps.values()):
            raise QueryError(
                "NOT EXISTS, EXISTS, MINUS or OPTIONAL beside patterns outside GRAPH that streams "
                "match"
                if stamps
                else "NOT EXISTS, EXISTS, MINUS or OPTIONAL beside patterns of static data alone",
                why="an answer is final at a time, which follows from those of its patterns",
                fix="write these patterns in GRAPH ?t { … }",
                source=source,
            )


def _check_kinds(
    found: SpjUnion,
    parts: Sequence[tuple[SpjUnion, tuple[str, ...], bool]],
    catalog: Catalog,
    source: Source,
) -> None:
    """Raise QueryError where a text of a key may be that of terms of several kinds."""
    unions = [found, *(hits for hits, _, _ in parts)]
    for name in dict.fromkeys(n for _, keys, _ in parts for n in keys):
        kinds = set()
        for union in unions:
            wide = extend_catalog(catalog, union)
            for query in union.disjuncts:
                output = dict(query.outputs).get(name)
                if output is None:
                    continue
                kind: object = StringType()
                if isinstance(output, LiteralOutput):
                    kind = Types(wide, query.occurrences).type_of(output.value)
                kinds.add((term_kind(output), kind))
        if len(kinds) > 1:
            raise QueryError(
                f"?{name}, on which NOT EXISTS, EXISTS, MINUS or OPTIONAL depends, is a term of "
                f"several kinds or types{_say_kinds(name, unions)}",
                why="solutions are told apart by texts, which may be those of different terms",
                fix=f"map it with one kind of term and one type{_APART}",
                source=source,
            )


def _find_kind(variable: str, found: SpjUnion, source: Source) -> str:
    outputs = [dict(q.outputs)[variable] for q in found.disjuncts]
    kinds = {term_kind(o) for o in outputs}
    if len(kinds) == 1 and not isinstance(outputs[0], BlankOutput):
        return kinds.pop()
    blank = "a blank node" if len(kinds) == 1 else "a term of several kinds"
    raise QueryError(
        f"?{variable} beside NOT EXISTS, EXISTS, MINUS or OPTIONAL is {blank}"
        f"{_say_kinds(variable, [found])}",
        why="what is known of an answer while it waits is its text",
        fix=f"map it to IRIs, or to literals of one datatype{_APART}; or do not select it",
        source=source,
    )


_APART = (
    "; or give what is of different triples maps IRIs with beginnings of their own, as in "
    "http://x/co2/{sensor}/{ts}, so that no node is of both"
)


def _say_kinds(variable: str, unions: Sequence[SpjUnion]) -> str:
    """The kinds of a term, and the triples maps that make it of each (nothing: one, or none)."""
    made: dict[str, dict[str, None]] = {}
    for query in (q for union in unions for q in union.disjuncts):
        output = dict(query.outputs).get(variable)
        if output is not None:
            aliases = {a.alias for a in output_attributes(output)}
            maps = (p.shown for alias, p in query.provenance if alias in aliases)
            kind = term_kind(output).replace(XSD, "xsd:")
            made.setdefault(kind, {}).update(dict.fromkeys(maps))
    said = [f"{kind} of {' and '.join(maps)}" for kind, maps in made.items() if maps]
    return f": {', '.join(said)}" if len(said) > 1 else ""


def _is_alike(outputs: Sequence[Output], found: SpjUnion, wide: Catalog) -> bool:
    """Whether terms are made in the same way of columns of the same types."""
    shapes = set()
    for query, output in zip(found.disjuncts, outputs, strict=True):
        types = Types(wide, query.occurrences)
        if not isinstance(output, LiteralOutput | IriOutput | TemplateLiteralOutput):
            return False
        parts = (output.value,) if isinstance(output, LiteralOutput) else output.parts
        shape = tuple(types.type_of(p) if isinstance(p, Attribute) else p for p in parts)
        shapes.add((type(output), shape))
    return len(shapes) == 1


def _rebuild(
    output: Output, attributes: Sequence[Attribute]
) -> tuple[Output, tuple[Attribute, ...]]:
    """The term of other columns."""
    given = iter(attributes)
    if isinstance(output, LiteralOutput):
        return replace(output, value=next(given)), tuple(attributes)
    assert isinstance(output, IriOutput | TemplateLiteralOutput)
    parts = tuple(next(given) if isinstance(p, Attribute) else p for p in output.parts)
    return replace(output, parts=parts), tuple(attributes)


def _read_text(output: Output, kind: str, text: Attribute) -> Output:
    """A term whose text is a column."""
    if kind == "IRI":
        return IriOutput((text,))
    datatype = getattr(output, "datatype", None)
    return TemplateLiteralOutput((text,), datatype, getattr(output, "language", None))
