"""Random aggregates by buckets of time, over random mappings and data: each group once, when its
bucket is over, as rdflib has it at the end."""

import random
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

BLOCKS = 4
PROJECTS = settings().max_examples // 2
_CALL = re.compile(r'ow:tumble\(\?(\w+), "PT(\d+)M"\^\^xsd:dayTimeDuration\)')


def time_of(query: Query) -> str | None:
    """The one time of an aggregate query, of all its branches; None of others."""
    times = [{a.time for a in branch.atoms} - {""} for branch in query.branches]
    grouped = any(name.startswith("(") for name in query.head)
    same = all(len(t) == 1 and t == times[0] for t in times)
    return min(times[0]) if grouped and same else None


def add_bucket(query: Query, time: str, minutes: int) -> Query:
    """The query grouped by a bucket, too, whose start is the first column."""
    call = f'(ow:tumble(?{time}, "PT{minutes}M"^^xsd:dayTimeDuration) AS ?bucket)'
    return replace(query, head=("?bucket", *query.head), group=(*query.group, call))


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare one query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    queries = [case.query, *(random_query(16 * seed + i, case) for i in range(15))]
    asked = next(((q, t) for q in queries if (t := time_of(q)) is not None), None)
    if asked is None:
        return Counter(none=1)
    minutes = draw.choice((1, 2, 3, 5))
    query = add_bucket(*asked, minutes)
    folder.mkdir()
    write_case(case, folder)
    text = "PREFIX ow: <urn:ontoweir:>\n" + write_query(query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
        job = prepare_job(workspace, compiled)
    except QueryError:
        return Counter(refused=1)
    plain = _CALL.sub(lambda m: f"FLOOR(?{m[1]} / {60 * int(m[2])}) * {60 * int(m[2])}", text)
    translated = translate_query(plain)
    project = Project(folder)
    step = next(iter(workspace.project.catalog.streams.values())).step_us
    told = Counter[str]()
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        names = [name.split()[-1].strip("?)") for name in query.head]
        found = replay_case(workspace, compiled, job, names)
        graphs = project.read_graphs(tuple(BASE + g for g in query.graphs))
        moments = list(ask_rdflib(translated, graphs))
        wanted: Answers = moments[-1][1] if moments else Counter()
        over = max(graphs.at) + timedelta(microseconds=step) if graphs.at else None
        expected = {
            row: at for row in wanted if over is not None and (at := _end(row[0], minutes)) <= over
        }
        shown = {
            (_seconds(row[0]), *row[1:]): at.replace(tzinfo=None)
            for at, rows_at in found.items()
            for row in rows_at
        }
        assert shown == expected, f"{text}\n{show_case(replace(case, rows=rows))}"
        told["with answers" if shown else "without"] += 1
    return told


def _end(start: str, minutes: int) -> datetime:
    """When the bucket ends that starts so many seconds after 1970."""
    begun = datetime.fromtimestamp(int(start), UTC).replace(tzinfo=None)
    return begun + timedelta(minutes=minutes)


def _seconds(moment: str) -> str:
    return str(int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_buckets_are_those_of_sparql(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 4, told
    assert told["refused"] < PROJECTS / 2, told
