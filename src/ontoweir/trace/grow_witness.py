"""How a counterexample forces the state of a query up, and how a repaired query stays below its
bound on the same data."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.checker.witness.confirm.confirm_witness import confirm_witness
from ontoweir.checker.witness.keyed.confirm_keyed import confirm_keyed
from ontoweir.checker.witness.witness import Witness
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, DataSource
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.share_steps import share_steps
from ontoweir.rewriter.model.spj import SpjUnion

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired query on the tuples of a counterexample: the rows it keeps after each, and its
    bound with the static data of the counterexample."""

    actions: tuple[str, ...]
    kept: tuple[int, ...]
    bound: int
    formula: str


@dataclass(frozen=True, slots=True)
class Growth:
    """Of a query, how many tuples any algorithm has to remember after the first, second … tuple
    of its counterexample (proved by plain evaluation); `repaired`: None where every repair is one
    of the catalog, to which this data does not keep."""

    name: str
    needed: tuple[int, ...]
    repaired: Repaired | None


def grow_witness(workspace: Workspace, compiled: CompiledQuery, size: int) -> Growth:
    """Let a counterexample of `size` tuples arrive one by one.

    Raises:
        QueryError: the query is not refuted, or no counterexample of that size is confirmed.
        OntoweirError: as a replay of the repaired query does.
    """
    verdict = workspace.check(compiled)
    if verdict.witness is None:
        raise QueryError(
            f"{compiled.name} is {verdict.name}: it has no counterexample",
            why="only a query that is proved to be unbounded has one",
            fix="plot an unbounded query; `ontoweir check` says which are",
            source=compiled.union.source,
        )
    witness = workspace.find_witness(compiled, size)
    if witness is None:
        raise QueryError(
            f"no counterexample of {compiled.name} with {size} tuples is confirmed",
            why="declared limits leave no room for it, or the time for one",
            fix="write a smaller --size",
            source=compiled.union.source,
        )
    catalog = share_steps(workspace.project.catalog, compiled.union.step_us)
    needed: list[int] = []
    for count in range(1, size + 1):
        proved = _proves(compiled.union, catalog, witness, count)
        needed.append(count if proved else (needed[-1] if needed else 0))
    repair = _choose(workspace.repair(compiled), compiled)
    mended = None if repair is None else _run(compiled.name, repair, catalog, witness)
    return Growth(compiled.name, tuple(needed), mended)


def _proves(union: SpjUnion, catalog: Catalog, witness: Witness, count: int) -> bool:
    """Whether the first tuples all have to be remembered: by the answers, computed naively."""
    part = Witness(count, witness.fixed, witness.optional[:count], witness.suffixes[:count])
    if confirm_witness(union, catalog, part):
        return True
    if union.aggregation is not None and confirm_witness(union, catalog, part, by_median=True):
        return True
    return confirm_keyed(union, catalog, part)


def _choose(repairs: Sequence[DescribedRepair], compiled: CompiledQuery) -> DescribedRepair | None:
    """Of the repairs that change the query alone, the one with the least bound."""
    assert compiled.union.source is not None
    file = compiled.union.source.file
    mine = [
        (bound.rows, n, r)
        for n, r in enumerate(repairs)
        if all(e.source.file == file for e in r.edits)
        and (bound := r.verdict.bound) is not None
        and bound.rows is not None
    ]
    return min(mine, key=lambda candidate: candidate[:2])[2] if mine else None


def _run(name: str, repair: DescribedRepair, catalog: Catalog, witness: Witness) -> Repaired:
    """Replay the repaired query over the first tuple, the first two, and so on."""
    from ontoweir.runtime.engine.query_job import QueryJob
    from ontoweir.runtime.statics.gather_statistics import gather_statistics
    from ontoweir.trace.trace_replay import watch_job
    from ontoweir.trace.write_witness import make_tables

    union = repair.verdict.union
    used = tables_of(union)
    rows = (*witness.fixed, *witness.optional)
    names = sorted(used | {r.table for r in rows} | set(catalog.relations))
    streams = [n for n in names if n in catalog.streams]
    everything = make_tables(rows, names, catalog)
    statics = {n: t for n, t in everything.items() if n in catalog.relations}
    verdict: Verdict = check_query(union, catalog, statistics=gather_statistics(statics))
    assert verdict.plans is not None
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    kept: list[int] = []
    with tempfile.TemporaryDirectory(prefix="ontoweir-") as folder:
        for count in range(1, witness.size + 1):
            tables = make_tables((*witness.fixed, *witness.optional[:count]), streams, catalog)
            job = QueryJob(
                name,
                verdict.union,
                verdict.plans,
                _over(catalog, tables, Path(folder)),
                verdict.bound.rows,
                repair.verdict.declarations,
                tuple((p.part, len(p.plans)) for p in verdict.parts),
            )
            looks = watch_job(job, Path(folder) / "answers.parquet", statics)
            kept.append(looks[-1].rows if looks else 0)
    return Repaired(repair.actions, tuple(kept), verdict.bound.rows, verdict.bound.formula)


def _over(catalog: Catalog, tables: "Mapping[str, pa.Table]", folder: Path) -> Catalog:
    """The catalog, its streams in files of these tables."""
    import pyarrow.parquet as pq

    streams = dict(catalog.streams)
    for name, table in tables.items():
        file = folder / f"{name}.parquet"
        pq.write_table(table, file)
        streams[name] = replace(streams[name], data=DataSource("parquet", str(file)))
    return replace(catalog, streams=streams)
