"""Declare what a database does of the tables that it was copied from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.measuring.declared import AddKey, AddReference, Declared, SetDomain
from ontoweir.progress.progress import OnProgress
from ontoweir.scaffold.ddl.read_constraints import Constraints
from ontoweir.scaffold.guess_tables import Guessed
from ontoweir.scaffold.measure_guessed import BY_DATABASE, Evidence, measure_guessed

if TYPE_CHECKING:
    import pyarrow as pa


def measure_declared(
    guessed: Guessed,
    guess: Callable[[frozenset[str]], Guessed],
    declared: Mapping[str, Constraints],
    spark: Any,
    on_progress: OnProgress,
) -> tuple[Guessed, Evidence]:
    """As `measure_guessed`, with what databases declare of their tables; and the tables as they are
    guessed then: one that others refer to, and whose rows are in no order of its time, is about
    what these are about, such as patients with the time of their admission, and static.

    Args:
        guessed: streams and relations.
        guess: the same, where some tables are static.
        declared: by databases, of the tables that were copied from them.
        spark: gives the session where a source needs it.
        on_progress: is told of rows that are read.

    Raises:
        DataError: data cannot be read.
    """
    if not declared:
        return guessed, measure_guessed(guessed.catalog, spark, on_progress)
    evidence = measure_guessed(_declare_keys(guessed.catalog, declared), spark, on_progress)
    named = {r.relation for one in declared.values() for r in one.references}
    streams = evidence.catalog.streams
    about = frozenset(n for n, s in streams.items() if s.data.sort and n in named)
    if not about or len(about) == len(streams):
        return guessed, _declare_constraints(evidence, declared)
    guessed = guess(about)
    evidence = measure_guessed(_declare_keys(guessed.catalog, declared), spark, on_progress)
    made = _declare_constraints(evidence, declared)
    told = [
        (n, f"others refer to it, and its rows are in no order of {streams[n].timestamp}")
        for n in sorted(about)
    ]
    return guessed, replace(made, notes=(*made.notes, *told))


def _declare_keys(catalog: Catalog, declared: Mapping[str, Constraints]) -> Catalog:
    """The catalog, whose static relations have the keys that are declared of them before others:
    those without a column that may be NULL."""
    relations = {}
    for name, relation in catalog.relations.items():
        made = declared.get(name)
        if made is not None:
            names = {c.name for c in relation.columns}
            keys = (k for k in made.keys if set(k) <= made.full & names)
            kept = tuple(dict.fromkeys((*keys, *relation.keys)))
            relation = replace(relation, keys=kept)
        relations[name] = relation
    return replace(catalog, relations=relations)


def _declare_constraints(evidence: Evidence, declared: Mapping[str, Constraints]) -> Evidence:
    """What was seen, and what is declared: keys, references and domains; a reference or a domain
    that is not true of all rows is told, and not declared. A reference that was guessed gives way
    to one of the same column.

    Args:
        evidence: of tables in Parquet, as a database was exported.
        declared: by table.
    """
    catalog = evidence.catalog
    seen: list[tuple[Declared, str]] = [*evidence.seen]
    streams, relations, notes = {}, {}, []
    for name, stream in catalog.streams.items():
        made = declared.get(name)
        if made is None:
            streams[name] = stream
            continue
        kept, told = _hold(stream, made, catalog)
        keys = tuple(_list_keys(stream, made))
        timed = any(stream.timestamp in key for key in made.keys)
        seen = [
            (one, why)
            for one, why in seen
            if one.stream != name or not _gives_way(one, kept, keys, timed=timed)
        ]
        seen += [(AddKey(name, key), BY_DATABASE) for key in keys]
        seen += [(AddReference(name, one), BY_DATABASE) for one in kept.references]
        seen += [(SetDomain(name, one), BY_DATABASE) for one in kept.domains]
        mine = [one for one, _ in seen if one.stream == name]
        streams[name] = replace(
            stream,
            keys=tuple(dict.fromkeys(d.columns for d in mine if isinstance(d, AddKey))),
            references=tuple(
                dict.fromkeys(d.reference for d in mine if isinstance(d, AddReference))
            ),
            columns=_limit(stream.columns, kept.domains),
        )
        notes += [(name, text) for text in told]
    nulls = [*evidence.static_nulls]
    for name, relation in catalog.relations.items():
        made = declared.get(name)
        if made is not None:
            kept, told = _hold(relation, made, catalog)
            columns_now = _limit(relation.columns, kept.domains)
            relation = replace(relation, columns=columns_now, references=kept.references)
            nulls += [(name, column.name, BY_DATABASE) for column in kept.domains]
            notes += [(name, text) for text in told]
        relations[name] = relation
    static = tuple((n, key) for n in relations if n in declared for key in declared[n].keys)
    return replace(
        evidence,
        catalog=replace(catalog, streams=streams, relations=relations),
        seen=tuple(seen),
        static_nulls=tuple(nulls),
        static_keys=static,
        notes=tuple(notes),
    )


def _gives_way(
    one: Declared,
    kept: Constraints,
    keys: Iterable[tuple[str, ...]],
    *,
    timed: bool,
) -> bool:
    """Whether what was guessed is in place of what is declared; `timed`: the time is in a declared
    key, so that another one with it is chance."""
    match one:
        case AddReference(reference=reference):
            return reference.columns in [r.columns for r in kept.references]
        case SetDomain(column=column):
            return column.name in [c.name for c in kept.domains]
        case AddKey(columns=names):
            return timed or names in keys
        case _:
            return False


def _list_keys(stream: Stream, declared: Constraints) -> Iterable[tuple[str, ...]]:
    """The keys of a stream without columns that may be NULL, each with the time, as a run enforces
    those that have it."""
    names = {stream.timestamp, *(c.name for c in stream.columns)}
    for key in declared.keys:
        if set(key) <= declared.full & names:
            yield key if stream.timestamp in key else (*key, stream.timestamp)


def _hold(
    table: Stream | Relation, declared: Constraints, catalog: Catalog
) -> tuple[Constraints, list[str]]:
    """Of what is declared, the references to static relations and the domains that all rows keep;
    and in words, the others."""
    references, domains, told = [], [], []
    for reference in declared.references:
        shown = f"{', '.join(reference.columns)} refers to {reference.relation}"
        if reference.relation in catalog.streams:
            told.append(
                f"{BY_DATABASE}: {shown}, which is a stream: join them by a query, "
                f"or make the project anew with --static {reference.relation}"
            )
            continue
        relation = catalog.relations.get(reference.relation)
        width = len(reference.columns)
        to = () if relation is None else reference.to
        to = to or next((k for k in (relation.keys if relation else ()) if len(k) == width), ())
        known = {c.name for c in table.columns}
        if relation is None or to not in relation.keys or not set(reference.columns) <= known:
            continue
        lost = _count_lost(table, reference.columns, relation, to)
        if lost:
            told.append(f"{BY_DATABASE}, but not true of {lost:,} rows: {shown}")
        else:
            references.append(replace(reference, to=to))
    for column in declared.domains:
        found = next((c for c in table.columns if c.name == column.name), None)
        if found is None:
            continue
        made = _narrow(found, column)
        lost = _count_outside(table, made)
        if lost:
            shown = f"the values of {column.name}"
            told.append(f"{BY_DATABASE}, but not true of {lost:,} rows: {shown}")
        elif column.enum == made.enum and (column.minimum, column.maximum) == (
            made.minimum,
            made.maximum,
        ):
            domains.append(made)
    full = [c.name for c in table.columns if c.name in declared.full]
    if full:
        told.append(f"{BY_DATABASE} to be never NULL: {', '.join(full)}")
    kept = Constraints(declared.keys, tuple(references), tuple(domains), declared.full)
    return kept, told


def _narrow(found: Column, declared: Column) -> Column:
    """The column, with the limits that are declared, where its values are of their type."""
    if isinstance(found.type, StringType) and declared.enum is not None:
        return replace(found, enum=declared.enum)
    if isinstance(found.type, IntType) and isinstance(declared.type, IntType):
        return replace(found, minimum=declared.minimum, maximum=declared.maximum)
    return found


def _limit(columns: tuple[Column, ...], domains: Iterable[Column]) -> tuple[Column, ...]:
    limited = {column.name: column for column in domains}
    return tuple(limited.get(column.name, column) for column in columns)


def _read(table: Stream | Relation, names: Iterable[str]) -> "pa.Table":
    import pyarrow.parquet as pq

    return pq.read_table(table.data.path, columns=list(names))


def _count_lost(
    table: Stream | Relation, columns: tuple[str, ...], relation: Relation, to: tuple[str, ...]
) -> int:
    """Rows, without NULL in the columns, whose values are those of no row of a relation."""
    rows = _read(table, columns).drop_null()
    known = _read(relation, to)
    if rows.schema.types != known.schema.types:
        return int(rows.num_rows)
    return int(rows.join(known, list(columns), list(to), join_type="left anti").num_rows)


def _count_outside(table: Stream | Relation, column: Column) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _read(table, [column.name]).column(0).drop_null()
    outside = pa.chunked_array([pa.repeat(pa.scalar(False), len(values))])
    if column.enum is not None:
        listed = pa.array([str(v) for v in column.enum])
        outside = pc.invert(pc.is_in(values.cast(pa.string()), value_set=listed))
    if column.minimum is not None:
        outside = pc.or_(outside, pc.less(values, column.minimum))
    if column.maximum is not None:
        outside = pc.or_(outside, pc.greater(values, column.maximum))
    return int(pc.sum(outside).as_py() or 0)
