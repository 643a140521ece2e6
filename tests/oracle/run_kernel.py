"""Run the kernel over in-memory data, chunk by chunk, without Spark."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.model.units import Units, kind_of
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
)
from ontoweir.rewriter.model.spj import output_attributes
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.encode import encode_column, unscale_floats
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_statics import Arrival, encode_static, used_columns
from ontoweir.runtime.ingest.resolve_breakpoints import resolve_breaks
from ontoweir.runtime.kept import kept_rows
from ontoweir.runtime.kernel.kernel import KernelState, advance_kernel
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.told import join_few

Row = tuple[Any, ...]

_ARROW = {
    IntType: pa.int64(),
    DecimalType: pa.decimal128(18, 3),
    FloatType: pa.float64(),
    StringType: pa.string(),
    DateType: pa.date32(),
    BooleanType: pa.bool_(),
}


@contextmanager
def few_touched() -> Iterator[None]:
    """However small the state is, only those rows of it are looked at that a chunk touches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_rows, "_SMALL", 0)
        patch.setattr(kept_rows, "_FEW", 0)
        patch.setattr(join_few, "_MANY", 0)
        yield


def run_kernel(
    plan: SynopsisPlan,
    catalog: Catalog,
    data: Mapping[str, tuple[Sequence[str], Sequence[Row]]],
    chunks: Sequence[tuple[int, int]],
) -> tuple[dict[int, Counter[Row]], list[int]]:
    """Results by marker, and the state's rows after every chunk."""
    form = plan.form
    found: dict[int, Counter[Row]] = {}
    sizes = []
    outputs = [
        (a, form.class_of[a], dict(form.classes[form.class_of[a]].attributes)[a])
        for _, o in form.query.outputs
        for a in output_attributes(o)
    ]
    steps = run_chunks(plan, catalog, data, chunks)
    for (first, last), (results, state, pool) in zip(chunks, steps, strict=True):
        sizes.append(state.rows)
        for i in range(results.rows):
            row = tuple(
                _decode(
                    results[value(c)][i].item() + s,
                    form.kinds[a],
                    form.unit_of(form.kinds[a]),
                    pool,
                )
                for a, c, s in outputs
            )
            at = int(results[EVENT][i])
            assert first <= at <= last
            found.setdefault(at, Counter())[row] += int(results[WEIGHT][i])
    return found, sizes


def run_plans(
    plans: Sequence[SynopsisPlan],
    catalog: Catalog,
    data: Mapping[str, tuple[Sequence[str], Sequence[Row]]],
    chunks: Sequence[tuple[int, int]],
) -> tuple[dict[int, Counter[Row]], list[int]]:
    """As run_kernel, of all plans of a query: bags add up, of sets every result is told once."""
    found: dict[int, Counter[Row]] = {}
    sizes = [0] * len(chunks)
    for plan in plans:
        results, mine = run_kernel(plan, catalog, data, chunks)
        sizes = [a + b for a, b in zip(sizes, mine, strict=True)]
        for marker, rows in results.items():
            found.setdefault(marker, Counter()).update(rows)
    if len(plans) > 1 and plans[0].form.distinct:
        told: set[Row] = set()
        for marker in sorted(found):
            found[marker] = Counter(dict.fromkeys(found[marker].keys() - told, 1))
            told |= found[marker].keys()
        found = {m: rows for m, rows in found.items() if rows}
    return found, sizes


def run_chunks(
    plan: SynopsisPlan,
    catalog: Catalog,
    data: Mapping[str, tuple[Sequence[str], Sequence[Row]]],
    chunks: Sequence[tuple[int, int]],
) -> Iterator[tuple[Frame, KernelState, StringPool]]:
    """Results and state after every chunk, as the kernel leaves them."""
    form = plan.form
    pool = StringPool()

    def column(table: str, name: str, values: Sequence[Any]) -> "pa.Array":
        declared = catalog.table(table).column(name)
        assert declared is not None
        return pa.array(values, _ARROW[type(declared.type)], from_pandas=False)

    used = used_columns(form)
    for group in form.classes:
        for table, name in group.domain.within:
            used.setdefault(table, set()).add(name)
    statics = {}
    for name, relation in catalog.relations.items():
        columns, rows = data[name]
        mine = pa.table({c: column(name, c, [r[i] for r in rows]) for i, c in enumerate(columns)})
        statics[name] = encode_static(
            relation, mine, used.get(name, set()), Units(form.unit, {}, form.floats), pool
        )
    intake = MemberBuilder(form, catalog, statics, pool)
    plan = resolve_breaks(plan, statics, pool)
    state = KernelState()
    for first, last in chunks:
        arrivals = {}
        for name in {m.stream for m in form.members}:
            columns, rows = data[name]
            stream = catalog.streams[name]
            time = list(columns).index(stream.timestamp)
            batch = [r for r in rows if first <= r[time] <= last]
            arrivals[name] = Arrival(
                np.array([r[time] for r in batch], dtype=np.int64),
                {
                    c.name: encode_column(
                        column(name, c.name, [r[list(columns).index(c.name)] for r in batch]),
                        c.type,
                        form.unit_of(kind_of(c.type)),
                        pool,
                        c.name,
                    )
                    for c in stream.columns
                    if c.name in used[name]
                },
            )
        batches = [intake.batch(m, arrivals[m.stream]) for m in form.members]
        results, state = advance_kernel(plan, state, batches, last)
        yield results, state, pool


def _decode(number: float, kind: Kind, unit: int, pool: StringPool) -> Any:
    """A value as the oracle has it (numbers compare equal whatever their Python type)."""
    match kind:
        case Kind.FLOAT:
            return unscale_floats(np.array([number]), unit)[0].item()
        case Kind.NUMBER:
            return Fraction(number) / unit
        case Kind.STRING:
            return pool.take(np.array([int(number)]))[0].as_py()
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=int(number))
        case Kind.BOOLEAN:
            return bool(number)
        case Kind.TIMESTAMP:
            return int(number)
