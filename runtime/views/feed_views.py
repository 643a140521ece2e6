"""The rows of views in a chunk, as if they had been admitted as a stream's."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Catalog, Column, Relation, Scalar, Stream
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import Attribute, Constant, TextColumn, View, ViewColumn
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.columnar.write_texts import encode_texts, write_texts
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.sources.derive_values import derive_relation
from ontoweir.runtime.times.steps import Steps
from ontoweir.runtime.views.prepare_view import (
    ONE_ROW,
    PreparedBranch,
    PreparedView,
    prepare_view,
)

_NUMBER = "the number of a row"


def feed_views(
    views: Sequence[PreparedView],
    catalog: Catalog,
    admitted: Mapping[str, Admitted],
    statics: Mapping[str, pa.Table],
) -> Mapping[str, Admitted]:
    """What was admitted of every stream, and the rows that it makes in views.

    Args:
        views: those over streams; others are left alone.
        catalog: the tables.
        admitted: of streams, in order of time. Views of others, too, are left alone: a pass over
            history that needs no view may not have read all of its streams.
        statics: the static relations that they read.
    """
    flowing = [v for v in views if isinstance(v.view.table, Stream)]
    if not flowing:
        return admitted
    made = dict(admitted)
    encoder = MemberEncoder(catalog, made)  # of views that others are made from too
    for view in flowing:
        if any(m.stream not in made for b in view.branches for m in b.form.members):
            continue
        steps, table = _unite(view, [_select(b, view, encoder, statics) for b in view.branches])
        if view.without:
            steps, table = _leave_out(
                view.view, steps, table, _select_static(view.without, view, statics)
            )
        made[view.view.name] = Admitted(Steps(steps), steps, table, 0, {})
    return made


def fill_relations(
    views: Sequence[View], catalog: Catalog, statics: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The rows of the views over static relations, by name; and those of relations that have
    derived columns, with these."""
    filled = {
        name: table
        for name, given in statics.items()
        if (table := derive_relation(catalog.relations[name], given)) is not given
    }
    for view in views:
        if not isinstance(view.table, Relation):
            continue
        there = {**statics, **filled}
        prepared = prepare_view(view, catalog, there)
        made = _select_static(prepared.branches, prepared, there)
        filled[view.name] = derive_relation(catalog.relations[view.name], made)
    return filled


def _select_static(
    branches: Sequence[PreparedBranch], view: PreparedView, statics: Mapping[str, pa.Table]
) -> pa.Table:
    """The rows of branches over static relations."""
    one = Admitted(Steps(np.zeros(1, np.int64)), np.zeros(1, np.int64), _nothing(1), 1, {})
    encoder = MemberEncoder(view.catalog, {ONE_ROW.name: one})
    return _unite(view, [_select(b, view, encoder, statics) for b in branches])[1]


def _leave_out(
    view: View, steps: Array, table: pa.Table, always: pa.Table
) -> tuple[Array, pa.Table]:
    """The rows that are not among some others."""
    if not always.num_rows:
        return steps, table
    if not view.table.columns:
        return steps[:0], table.slice(0, 0)
    names = table.column_names
    numbered = table.append_column(_NUMBER, pa.array(np.arange(len(steps))))
    left = numbered.join(always, names, join_type="left anti")
    index = np.sort(left.column(_NUMBER).to_numpy())
    return steps[index], table.take(pa.array(index))


def _nothing(rows: int) -> pa.Table:
    return pa.table({"": pa.nulls(rows)})


def _select(
    prepared: PreparedBranch,
    view: PreparedView,
    encoder: MemberEncoder,
    statics: Mapping[str, pa.Table],
) -> tuple[Array, pa.Table]:
    """The rows of a branch: their steps, in order, and the view's columns."""
    (member,) = prepared.form.members
    pool = StringPool(prepared.texts)
    builder = MemberBuilder(prepared.form, view.catalog, prepared.statics, pool)
    arrival = encoder.arrival(member, prepared.form, pool, prepared.selection)
    places = builder.positions(member, arrival)
    candidates = encoder.candidates(member.stream, prepared.selection)
    if candidates is not None:
        places[member.alias] = candidates[places[member.alias]]
    rows = encoder.admitted[member.stream]
    tables = {o.alias: statics[o.table] for o in member.statics} | {member.alias: rows.table}

    types = Types(view.catalog, prepared.branch.occurrences)

    def pick(attribute: Attribute) -> pa.ChunkedArray:
        if attribute.alias == member.alias:
            column = encoder.values(member.stream, attribute.column)
        else:
            column = tables[attribute.alias].column(attribute.column)
        kind = arrow_type(types.type_of(attribute))
        place = places[attribute.alias]
        if not _is_all(place, len(column)):
            column = column.take(pa.array(place))
        return column if column.type == kind else column.cast(kind)

    steps = rows.steps.at(places[member.alias])
    good = np.ones(len(steps), dtype=np.bool_)
    for attribute in prepared.present:
        if types.step_of(attribute) is None:
            column = pick(attribute)
            if column.null_count:
                good &= pc.is_valid(column).to_numpy()
    if not good.all():
        places = {alias: place[good] for alias, place in places.items()}
        steps = steps[good]
    names = [c.name for c in view.view.table.columns]
    columns = [
        _column(given, declared, pick, len(steps))
        for given, declared in zip(prepared.branch.columns, view.view.table.columns, strict=True)
    ]
    return steps, pa.table(columns, names=names) if columns else _nothing(len(steps))


def _is_all(place: Array, rows: int) -> bool:
    """Whether places are all rows in order."""
    return len(place) == rows and bool((place == np.arange(rows)).all())


def _column(
    given: ViewColumn,
    declared: Column,
    pick: "Callable[[Attribute], pa.ChunkedArray]",
    rows: int,
) -> "pa.ChunkedArray":
    kind = arrow_type(declared.type)
    if isinstance(given, Constant):
        return pa.chunked_array([pa.repeat(_scalar(given.value, kind), rows)])
    if isinstance(given, TextColumn):
        pieces = [
            pa.chunked_array([pa.repeat(pa.scalar(part), rows)])
            if isinstance(part, str)
            else _write(pick(part), encoded=given.encoded)
            for part in given.parts
        ]
        return pc.binary_join_element_wise(*pieces, "")
    column = pick(given)
    return column if column.type == kind else column.cast(kind)


def _scalar(constant: Scalar, kind: pa.DataType) -> "pa.Scalar":
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(str(constant)), kind)
    return pa.scalar(constant).cast(kind)


def _write(column: "pa.ChunkedArray", *, encoded: bool) -> "pa.ChunkedArray":
    """The texts of values in a template; each value is written once."""
    values = pc.unique(column)
    texts = write_texts(values)
    if encoded and not pa.types.is_integer(values.type):
        texts = encode_texts(texts)
    return texts.take(pc.index_in(column, values).combine_chunks())


def _unite(view: PreparedView, parts: Sequence[tuple[Array, pa.Table]]) -> tuple[Array, pa.Table]:
    """The rows of all branches in order of time, of a set each once."""
    steps = np.concatenate([s for s, _ in parts])
    table = parts[0][1] if len(parts) == 1 else pa.concat_tables([t for _, t in parts])
    if len(parts) > 1 and len(steps) and not (np.diff(steps) >= 0).all():
        order = np.argsort(steps, kind="stable")
        steps, table = steps[order], table.take(pa.array(order))
    if not view.view.distinct or len(steps) < 2:
        return steps, table
    if not view.view.table.columns:
        first = np.concatenate([[True], np.diff(steps) != 0])
    else:
        first = ~find_repeated_keys(steps, table.columns)
    if first.all():
        return steps, table
    index = np.flatnonzero(first)
    return steps[index], table.take(pa.array(index))
