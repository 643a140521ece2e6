"""The rows that say when the values of a stream are closed, as the kernel has values."""

from collections.abc import Mapping
from dataclasses import dataclass

from ontoweir.checker.model.normal_form import Kind, NormalForm, OpenValues
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
)
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.pool.string_pool import StringPool

_ALIAS = "watched"


@dataclass(frozen=True, slots=True)
class WatchedStream:
    """All rows of a stream with values that a rule closes; of one by `ends`, those that say so.

    `open`: the equality of a plan; `form`: its rows; `columns`: by class of the plan, the class
    there, and by how much its numbers are less.
    """

    open: OpenValues
    form: NormalForm
    columns: Mapping[int, tuple[int, int]]


def watch_stream(one: OpenValues, form: NormalForm, catalog: Catalog) -> WatchedStream:
    """What is watched for an equality of a plan's normal form."""
    rule = one.rule
    columns = [Attribute(_ALIAS, name) for name in rule.columns]
    conditions: list[Condition] = [NotNull(a) for a in columns]
    if rule.ends is not None:
        conditions.append(Compare(Attribute(_ALIAS, rule.ends), Op.EQ, Constant(value=True)))
    query = SpjQuery(
        occurrences=(Occurrence(_ALIAS, one.stream),),
        conditions=tuple(conditions),
        outputs=tuple((a.column, LiteralOutput(a)) for a in columns),
    )
    rows = normalise_query(query, distinct=False, catalog=catalog)
    told = {}
    for index, attribute in zip(one.values, columns, strict=True):
        units, mine = form.unit_of(form.classes[index].kind), rows.class_of[attribute]
        factor = 1
        if form.classes[index].kind is Kind.NUMBER:
            factor, rest = divmod(units, rows.unit)
            assert not rest  # the plan has all columns of the rule
        told[index] = mine, factor
    return WatchedStream(one, rows, told)


def read_watched(
    watched: WatchedStream, encoded: MemberEncoder, catalog: Catalog, pool: StringPool
) -> Frame:
    """The watched rows of a chunk: EVENT, the plan's classes, and WEIGHT."""
    (member,) = watched.form.members
    arrival = encoded.arrival(member, watched.form, pool, ())
    found = MemberBuilder(watched.form, catalog, {}, pool).batch(member, arrival)
    values = {
        value(index): found[value(mine)] * factor
        for index, (mine, factor) in watched.columns.items()
    }
    return Frame(found.rows, {**values, EVENT: found[EVENT], WEIGHT: found[WEIGHT]})
