"""What the pipeline answers: compiled, decided, and replayed in this process."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.plan_unbounded import plan_unbounded
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.prepare_jobs import load_relations, make_job, plan_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.spark.start_session import start_session
from tests.sparql_counts.ask_rdflib import Answers, write_cell


def prepare_job(workspace: Workspace, compiled: CompiledQuery) -> QueryJob:
    """What runs a query: its plans; if it is not bounded, those of `--allow-unbounded`."""
    catalog = workspace.project.catalog
    verdict = check_query(compiled.union, catalog, disprove=False)  # no witness is looked for
    if verdict.plans is not None:
        return make_job(workspace, compiled, verdict, Statistics())[0]
    if any(block.plans is None for block in verdict.blocks):
        raise QueryError("not bounded inside", why="no plan is made of it", fix="none")
    kept = plan_unbounded(compiled.union, catalog)
    return replace(
        plan_job(verdict, catalog),
        union=compiled.union,
        plans=kept.plans,
        bound=None,
        declarations=verdict.declarations,
        parts=kept.parts,
        unbounded=True,
    )


def replay_case(
    workspace: Workspace, compiled: CompiledQuery, job: QueryJob, names: Sequence[str]
) -> dict[datetime, Answers]:
    """The answers that each timestamp adds; of aggregates, the rows of groups that changed.

    Args:
        workspace: the project.
        compiled: the query.
        job: what runs it.
        names: the columns of the answers, in order.
    """
    statics = load_relations(workspace, [compiled], start_session)
    output = Path(workspace.project.catalog.file).parent / "answers.parquet"
    summary = replay_history(job, ReplayRequest(output, "parquet"), statics=statics)
    assert summary.rejected_total == 0, summary.rejected
    found: dict[datetime, Answers] = {}
    for row in pq.read_table(output).to_pylist():
        cells = tuple(write_cell(row[name]) for name in names)
        found.setdefault(row["at"], Counter())[cells] += row.get("multiplicity", 1)
    return found
