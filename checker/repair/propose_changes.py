"""Changes that may make a query bounded: what its unbounded values and waits suggest."""

from collections.abc import Iterable, Iterator, Mapping, Set
from fractions import Fraction
from itertools import combinations
from math import floor

from ontoweir.checker.model.normal_form import Kind, Member, NormalForm, ValueClass
from ontoweir.checker.repair.changes import (
    NUMBERS,
    WINDOW,
    AddOrder,
    AddWindow,
    Change,
    DeclareDomain,
    DeclareFew,
    DeclareGap,
    DeclareKey,
    DeclareReference,
    DropGroup,
    DropVariable,
    SetDistinct,
    list_wide,
    name_times,
    rank_change,
)
from ontoweir.checker.repair.propose_nulls import propose_nulls
from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjUnion, View, output_attributes
from ontoweir.rewriter.views.find_origins import find_origins

_LEAST_US = 10_000_000
"""No window that is proposed is shorter: steps may be milliseconds."""
_SECONDS = (10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200)
_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 730)
_WRITTEN_US = (*(s * 1_000_000 for s in _SECONDS), *(d * 86_400_000_000 for d in _DAYS))
"""Lengths that people write."""


def propose_changes(
    union: SpjUnion, forms: Iterable[NormalForm], catalog: Catalog
) -> tuple[Change, ...]:
    """Changes worth trying, those that a person is likely to want first.

    Args:
        union: the query.
        forms: its disjuncts that have no plan.
        catalog: its tables.
    """
    changes: dict[Change, None] = {}
    views = {view.name: view for view in union.views}
    declared, catalog = catalog, extend_catalog(catalog, union)
    steps = _choose_steps(union, catalog)
    for form in forms:
        changes.update(dict.fromkeys(_keys(form, declared, views)))
        changes.update(dict.fromkeys(_columns(form, declared, catalog, views)))
        changes.update(dict.fromkeys(_times(form, catalog, steps)))
        changes.update(dict.fromkeys(_variables(form, union)))
        changes.update(dict.fromkeys(_groups(form, union)))
        changes.update(dict.fromkeys(_gaps(form, union, declared)))
        changes.update(dict.fromkeys(_joined(form, declared)))
    changes.update(dict.fromkeys(propose_nulls(union, catalog)))
    if union.aggregation is None:
        changes[SetDistinct(not union.distinct)] = None
    return tuple(sorted(changes, key=rank_change))


def _columns(
    form: NormalForm, catalog: Catalog, extended: Catalog, views: Mapping[str, View]
) -> Iterator[Change]:
    """A domain, or a reference, for every unbounded value that someone else needs; of a view's
    column, for the columns that it is made from, and of a derived one for those that it reads."""
    tables = {o.alias: o.table for o in form.query.occurrences}
    for group in form.classes:
        if group.domain.finite or not _matters(form, group):
            continue
        for attribute, _ in group.attributes:
            for table, name in find_origins(tables[attribute.alias], attribute.column, views):
                stream = catalog.streams.get(table)
                if stream is None:
                    continue
                read = read_columns(extended.table(table), [name])
                start = _start(form, group, attribute) if read == {name} else 0
                for column in (c for c in stream.columns if c.name in read):
                    if not isinstance(column.type, BooleanType | TimestampType):
                        yield DeclareDomain(stream.name, column.name, start)
                    yield from _references(stream, column, catalog)


def _gaps(form: NormalForm, union: SpjUnion, catalog: Catalog) -> Iterator[Change]:
    """A gap for the values of a stream by which groups, or answers that are told once, differ. That
    is likely of names that no other table knows, such as a session's."""
    if union.ends or (union.aggregation is None and not union.distinct):
        return
    names = union.variables if union.aggregation is None else union.aggregation.group
    outputs = dict(form.query.outputs)
    tables = {o.alias: o.table for o in form.query.occurrences}
    told = (*names, *_counted(union))
    kept = {form.class_of[a] for n in told if n in outputs for a in output_attributes(outputs[n])}
    open_ones = {value for value in kept if not form.classes[value].domain.finite}
    for attribute in (a for n in names if n in outputs for a in output_attributes(outputs[n])):
        stream = catalog.streams.get(tables[attribute.alias])
        if stream is None or form.classes[form.class_of[attribute]].domain.finite:
            continue
        mine = form.of_alias(attribute.alias)
        # what its rows have else, which few rows bound
        few = _has_more(open_ones - {form.class_of[attribute]}, mine)
        if _may_be_closed(stream, attribute.column):
            yield DeclareGap(stream.name, attribute.column, few)
        for rule in list_wide(stream, attribute.column):
            closed = {form.class_of.get(Attribute(attribute.alias, c)) for c in rule.columns}
            if closed <= kept and _has_more(open_ones - closed, mine):
                yield DeclareFew(stream.name, rule.columns)


def _has_more(values: Set[int | None], mine: Set[int]) -> bool:
    """Whether there are other values, and all of them are of the rows of one member."""
    return bool(values) and values <= mine


def _joined(form: NormalForm, catalog: Catalog) -> Iterator[Change]:
    """A gap for the values by which a stream's rows are joined with each other; and that a value
    has few rows, where these have more that is unbounded."""
    for group in form.classes:
        streams = {form.members[i].stream for i in group.members}
        if group.domain.finite or len(group.members) < 2 or len(streams) > 1:
            continue
        stream = catalog.streams.get(streams.pop())
        aliases = {form.members[i].alias for i in group.members}
        columns = {a.column for a, _ in group.attributes if a.alias in aliases}
        name = min(columns)
        if stream is None or len(columns) > 1:
            continue
        others = (c for c in form.classes if c is not group and c.members & group.members)
        few = any(not c.domain.finite and _matters(form, c) for c in others)
        if _may_be_closed(stream, name):
            yield DeclareGap(stream.name, name)
            if few:
                yield DeclareGap(stream.name, name, few=True)
        for rule in list_wide(stream, name) if few else ():
            yield DeclareFew(stream.name, rule.columns)


def _may_be_closed(stream: Stream, name: str) -> bool:
    """Whether a rule may close the values of a column, and none is declared."""
    column = stream.column(name)
    if column is None or column.bucket is not None or column.expression is not None:
        return False
    known = any(rule.columns == (name,) for rule in stream.closing)
    key = any(set(k) <= {name} for k in stream.keys)
    return not known and not key and isinstance(column.type, StringType | IntType)


def _counted(union: SpjUnion) -> list[str]:
    """The arguments whose values are counted one by one."""
    aggregates = () if union.aggregation is None else union.aggregation.aggregates
    return [a.argument for a in aggregates if a.function.holistic and a.argument is not None]


def _start(form: NormalForm, group: ValueClass, attribute: Attribute) -> int:
    """Where a range of the column's numbers begins that the query can meet."""
    if group.kind not in (Kind.NUMBER, Kind.FLOAT):
        return 0
    shift = dict(group.attributes)[attribute]
    low, high = (
        None if limit is None else floor(Fraction(limit + shift) / form.unit_of(group.kind))
        for limit in (group.domain.low, group.domain.high)
    )
    if low is not None and low >= NUMBERS:
        return low
    return high - NUMBERS + 1 if high is not None and high < 0 else 0


def _matters(form: NormalForm, group: ValueClass) -> bool:
    compared = {i for q in form.inequalities for i in (q.x, q.y)}
    compared |= {i for d in form.disequalities for i in (d.x, d.y)}
    folded = {f.value for f in form.folds or ()}
    return group.projected or len(group.members) > 1 or group.index in compared | folded


def _references(stream: Stream, column: Column, catalog: Catalog) -> Iterator[Change]:
    """A reference to each static relation with a key that is called like the column; and what a
    reference of several columns, which no row is held to, says of this one."""
    for reference in stream.references:
        if len(reference.columns) > 1 and column.name in reference.columns:
            to = reference.to[reference.columns.index(column.name)]
            yield DeclareReference(stream.name, column.name, reference.relation, to)
    for relation in catalog.relations.values():
        for key in relation.keys:
            target = relation.column(key[0]) if len(key) == 1 else None
            if target is None or target.type != column.type:
                continue
            if target.name.lower() == column.name.lower():
                yield DeclareReference(stream.name, column.name, relation.name, target.name)


def _keys(form: NormalForm, catalog: Catalog, views: Mapping[str, View]) -> Iterator[Change]:
    """A key of a stream that is joined with itself, itself or by views of it, of all columns that
    are equated there."""
    made = [_list_columns(member, form, views) for member in form.members]
    for one, other in combinations(made, 2):
        for name in sorted(one.keys() & other.keys() & catalog.streams.keys()):
            stream = catalog.streams[name]
            equated = [
                c.name
                for c in stream.columns
                if (mine := one[name].get(c.name)) is not None
                and mine == other[name].get(c.name)
                and not form.classes[mine].domain.finite
            ]
            if equated:
                yield DeclareKey(name, tuple(equated))


def _list_columns(
    member: Member, form: NormalForm, views: Mapping[str, View]
) -> dict[str, dict[str, int]]:
    """Of each stream that a member's tuples are made from: the value classes of its columns."""
    streams: dict[str, dict[str, int]] = {}
    if member.stream not in views:
        streams[member.stream] = {}
    for attribute, index in form.class_of.items():
        if attribute.alias == member.alias:
            for table, column in find_origins(member.stream, attribute.column, views):
                streams.setdefault(table, {})[column] = index
    return streams


def _times(form: NormalForm, catalog: Catalog, steps: int) -> Iterator[Change]:
    """A window of so many steps, or an order, for every wait without a limit."""
    names = name_times(form.query, catalog)
    for i, one in enumerate(form.members):
        for j, other in enumerate(form.members):
            if i == j or not form.has_unbounded_lag(i, j):
                continue
            if one.alias not in names or other.alias not in names:
                continue  # outside GRAPH, where the query has no name for the time
            earlier, later = names[one.alias], names[other.alias]
            if earlier == later:
                continue
            yield AddWindow(earlier, later, steps)
            if form.has_unbounded_lag(j, i):
                yield AddOrder(earlier, later)


def _choose_steps(union: SpjUnion, catalog: Catalog) -> int:
    """A length for a window, in steps: the longest one that the query has already; else the first
    one that a person would write of at least `WINDOW` steps, and `_LEAST_US`."""
    found, longest = WINDOW, 0
    lengths: set[int] = set()
    for query in union.disjuncts:
        tables = {o.alias: o.table for o in query.occurrences}
        streams = {a: catalog.streams[t] for a, t in tables.items() if t in catalog.streams}
        times = {Attribute(a, stream.timestamp) for a, stream in streams.items()}
        found = max([found, *(_LEAST_US // stream.step_us for stream in streams.values())])
        lengths |= {stream.step_us for stream in streams.values()}
        for one in query.conditions:
            if isinstance(one, Compare) and one.left in times and one.right in times:
                longest = max(longest, int(one.offset) if one.op in (Op.LE, Op.LT) else 0)
    if longest or len(lengths) != 1:
        return longest or found
    (step,) = lengths
    least = found * step
    written = (us for us in _WRITTEN_US if least <= us <= 3 * least and us % step == 0)
    return next(written, least) // step


def _variables(form: NormalForm, union: SpjUnion) -> Iterator[Change]:
    """Every selected variable that is made of an unbounded value, while another one is left."""
    if union.aggregation is not None or len(union.variables) < 2:
        return
    for name, output in form.query.outputs:
        classes = (form.classes[form.class_of[a]] for a in output_attributes(output))
        if any(not c.domain.finite for c in classes):
            yield DropVariable(name)


def _groups(form: NormalForm, union: SpjUnion) -> Iterator[Change]:
    """`DropGroup` for each variable of GROUP BY that is made of an unbounded value."""
    if union.aggregation is None:
        return
    for name, output in form.query.outputs:
        classes = (form.classes[form.class_of[a]] for a in output_attributes(output))
        groups = union.aggregation
        droppable = name in groups.group and name in groups.columns and name not in groups.read
        if droppable and any(not c.domain.finite for c in classes):
            yield DropGroup(name)
