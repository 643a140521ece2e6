"""Random queries that show times, or have sliding windows, over random mappings and data: replayed
in one range and in several, what holds at every time is what rdflib finds with that time as NOW().
"""

import random
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import AskedFor, load_relations, make_job
from ontoweir.runtime.engine.configure_run import configure_run
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.in_process import replay_here
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query, write_cell
from tests.sparql_counts.case import Branch, Case, Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Graphs, Project
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

BLOCKS = 2
PROJECTS = settings().max_examples // 5
GROUPED = settings().max_examples // 10
_WINDOWS = (
    'FILTER(?{t} > NOW() - "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(?{t} >= NOW() - "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(NOW() - ?{t} < "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(!(NOW() >= ?{t} + "PT{m}M"^^xsd:dayTimeDuration))',
)


_FLOOR = 'ow:floor(NOW(), "PT{p}M"^^xsd:dayTimeDuration)'
_STEPS = (
    f'FILTER(?{{t}} > {_FLOOR} - "PT{{m}}M"^^xsd:dayTimeDuration)',
    f"FILTER(?{{t}} >= {_FLOOR})",
)
_DELAYS = (
    'FILTER(?{t} <= NOW() - "PT{m}M"^^xsd:dayTimeDuration)',
    f"FILTER({_FLOOR} >= ?{{t}})",
)


def _times(branch: Branch) -> set[str]:
    return {a.time for a in branch.atoms} - {""}


def ask(
    draw: random.Random, seed: int, case: Case, *, grouped: bool
) -> tuple[Query, set[str]] | None:
    """A query over a project, with the times that it shows; `grouped`: it has aggregates."""
    queries = [case.query, *(random_query(64 * seed + i, case) for i in range(60))]
    fitting = [q for q in queries if grouped == any(name.startswith("(") for name in q.head)]
    timed = [q for q in fitting if set.intersection(*map(_times, q.branches))]
    timed = [q for q in timed if q.group] if grouped else timed
    if not timed:
        return None
    query = draw.choice(timed)
    times = sorted(set.intersection(*map(_times, query.branches)))
    shown = [t for t in times if draw.random() < (0.2 if grouped else 0.6)]
    head = [*query.head, *(f"?{t}" for t in shown)]
    draw.shuffle(head)
    if grouped:
        query = replace(query, group=(*query.group, *(f"?{t}" for t in shown)))
    windows = [t for t in times if draw.random() < 0.6] or times[:grouped]
    lengths = (5, 5, 10, 10, 15, 1, 3, 7, 12, 22)  # minutes; a step has 5
    lines = []
    for t in windows:
        texts = _STEPS if draw.random() < 0.3 else _WINDOWS
        picked = [draw.choice(texts)]
        if draw.random() < 0.2 and not grouped:  # they are refused in aggregates
            picked.append(draw.choice(_DELAYS))
        p = draw.choice((2, 5, 7, 10))
        lines += [text.format(t=t, m=draw.choice(lengths), p=p) for text in picked]
    branches = tuple(replace(b, lines=(*b.lines, *lines)) for b in query.branches)
    return replace(query, head=tuple(head), branches=branches), set(shown)


def run_seed(seed: int, folder: Path, *, grouped: bool = False) -> Counter[str]:
    """Compare one query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    found = ask(draw, seed, case, grouped=grouped)
    if found is None:
        return Counter(none=1)
    query, shown_times = found
    folder.mkdir()
    if draw.random() < 0.4:  # streams of different units
        units = ("5 minutes", "1 minute", "150 seconds")
        tables = (replace(t, unit=draw.choice(units)) for t in case.tables)
        case = replace(case, tables=tuple(tables))
    write_case(case, folder)
    text = "PREFIX ow: <urn:ontoweir:>\n" + write_query(query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
    except QueryError:
        return Counter(refused=1)
    verdict = check_query(compiled.union, workspace.project.catalog)
    if verdict.plans is None:
        return Counter({"not bounded": 1})
    emit = "changes" if draw.random() < 0.4 else None
    try:
        job = make_job(workspace, compiled, verdict, Statistics(), AskedFor(emit=emit))[0]
    except QueryError as error:  # texts do not tell the answers
        if "as changes" not in error.what:
            raise
        return Counter(refused=1)
    project, told = Project(folder), Counter[str]()
    names = [name.rpartition("?")[2].strip(")") for name in query.head]
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        statics = load_relations(workspace, [compiled], start_session)
        graphs = project.read_graphs(tuple(BASE + g for g in query.graphs))
        made = []
        for ranges, chunk in ((1, 100), (draw.choice((2, 3)), draw.choice((1, 3)))):
            with pytest.MonkeyPatch.context() as patch:
                options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
                options |= {"ranges": ranges, "rows_per_chunk": chunk}
                made.append(replay_here(patch, job, folder / "answers.parquet", **options)[0])
        shown = f"{text}\n{show_case(replace(case, rows=rows))}"
        if compiled.union.begins and job.emit != "changes":  # written as they are found
            assert _count(made[0]) == _count(made[1]), shown
        else:
            assert made[0] == made[1], shown
        read = configure_run([job], job.catalog).streams
        last = max((int(r[0] or 0) for name in read for r in rows[name]), default=-1)
        for step, (moment, wanted) in enumerate(ask_at_each(text, graphs)):
            if job.emit == "changes" and step_of(moment) > last:
                break
            assert standing(made[0], names, shown_times, moment) == wanted, (step, moment, shown)
        told["with answers" if made[0] else "without"] += 1
        told["windows"] += bool(compiled.union.ends and made[0])
        told["units"] += bool(compiled.union.step_us and made[0])
    return told


def _count(rows: list[dict[str, Any]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        cells = tuple(c for n, c in row.items() if n != "multiplicity")
        found[cells] += row.get("multiplicity", 1)
    return found


def step_of(moment: datetime) -> int:
    return int((moment.replace(tzinfo=None) - datetime(2020, 1, 1)).total_seconds()) // 300


def ask_at_each(text: str, graphs: Graphs) -> list[tuple[datetime, Answers]]:
    if "ow:floor" not in text:
        return list(ask_rdflib(translate_query(text), graphs))
    found = []
    for moment in graphs.at:
        floored = re.sub(
            r'ow:floor\(NOW\(\), "PT(\d+)M"\^\^xsd:dayTimeDuration\)',
            partial(_floor, moment),
            text,
        )
        query = translate_query(floored.replace("NOW()", _literal(moment)))
        found.append((moment, dict(ask_rdflib(query, graphs))[moment]))
    return found


def _floor(moment: datetime, call: re.Match[str]) -> str:
    """The last time of a grid."""
    seconds, step = int(moment.replace(tzinfo=UTC).timestamp()), 60 * int(call[1])
    return _literal(datetime.fromtimestamp(seconds // step * step, UTC))


def _literal(moment: datetime) -> str:
    return f'"{moment.replace(tzinfo=None).isoformat()}"^^xsd:dateTime'


def standing(
    rows: list[dict[str, Any]], names: list[str], times: set[str], moment: datetime
) -> Answers:
    """The answers that hold at a time."""
    now = moment.replace(tzinfo=None)
    found: Answers = Counter()
    for row in rows:
        assert "until" not in row or row["at"] < row["until"]
        if row["at"] > now or ("until" in row and row["until"] <= now):
            continue
        cells = (
            str(int(row[n].replace(tzinfo=UTC).timestamp())) if n in times else write_cell(row[n])
            for n in names
        )
        sign = -1 if row.get("op") == "-" else 1
        found[tuple(cells)] += sign * row.get("multiplicity", 1)
    assert min(found.values(), default=0) >= 0
    return Counter({cells: count for cells, count in found.items() if count})


@pytest.mark.parametrize("block", range(BLOCKS))
def test_times_and_windows(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 5, told
    assert told["windows"] > PROJECTS / 10, told
    assert told["refused"] < PROJECTS / 2, told


@pytest.mark.parametrize("block", range(BLOCKS))
def test_groups_of_windows(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * GROUPED, (block + 1) * GROUPED):
        told += run_seed(seed, tmp_path / str(seed), grouped=True)
    assert told["windows"] > GROUPED / 4, told
    assert told["refused"] < GROUPED / 2, told


def test_a_time_of_a_view_that_is_to_blame(tmp_path: Path) -> None:
    # which of its branches is to blame is asked of the view without them, which has times too
    assert run_seed(5043, tmp_path / "case") == Counter({"not bounded": 1})
