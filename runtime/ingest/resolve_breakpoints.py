"""Look up the breakpoints of a plan's keys: constants and static values become numbers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

import numpy as np

from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.checker.model.plan import (
    Break,
    Constants,
    Grid,
    Key,
    Points,
    StaticValues,
    SynopsisPlan,
    SynopsisTable,
)
from ontoweir.checker.model.units import Units
from ontoweir.runtime.columnar.add_exact import add_exact, fits
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.encode_statics import StaticData, code_constant
from ontoweir.runtime.pool.string_pool import StringPool


def list_static_breaks(plan: SynopsisPlan) -> list[tuple[str, str]]:
    """The static relations and columns whose values are breakpoints of a plan."""
    breaks = [at for table in plan.tables for key in table.keys for at in key.breaks]
    return [(at.table, at.column) for at in breaks if isinstance(at, StaticValues)]


def resolve_breaks(
    plan: SynopsisPlan, statics: Mapping[str, StaticData], pool: StringPool
) -> SynopsisPlan:
    """The plan with the breakpoints of its keys as numbers that a kernel compares with.

    Args:
        plan: the plan.
        statics: the static relations that it mentions, encoded.
        pool: the codes of strings; constants get permanent ones.
    """
    known: dict[tuple[int, Break], Points] = {}

    def resolve(key: Key) -> Key:
        made: list[Break] = []
        for at in key.breaks:
            kind = plan.form.classes[key.value].kind
            match at:
                case Grid() | Points():
                    made.append(at)
                case Constants() | StaticValues():
                    if (key.value, at) not in known:
                        numbers = _look_up(at, plan.form, kind, statics, pool)
                        known[(key.value, at)] = Points(numbers)
                    made.append(known[(key.value, at)])
                case _:
                    assert_never(at)
        return replace(key, breaks=tuple(made))

    def resolve_table(table: SynopsisTable) -> SynopsisTable:
        if not any(k.breaks for k in table.keys):
            return table
        return replace(table, keys=tuple(map(resolve, table.keys)))

    return replace(plan, tables=tuple(map(resolve_table, plan.tables)))


def _look_up(
    at: Constants | StaticValues,
    form: NormalForm,
    kind: Kind,
    statics: Mapping[str, StaticData],
    pool: StringPool,
) -> Array:
    match at:
        case Constants(values=values):
            units = Units(form.unit, {}, form.floats)
            codes = [code_constant(v, kind, units, pool) for v in values]
            whole = all(isinstance(code, int) for code in codes)
            numbers = np.array(codes, dtype=object if whole else np.float64)
        case StaticValues(table=table, column=column):
            static = statics[table].columns[column]
            numbers = static.values[static.valid]
        case _:
            assert_never(at)
    moved = add_exact(numbers, at.shift)
    # what lies beyond 64 bits distinguishes no numbers of 64 bits
    inside = moved[fits(moved)]
    return np.unique(inside.astype(np.int64) if inside.dtype == object else inside)
