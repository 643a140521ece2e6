"""Random aggregates by buckets of one of several times, from any offset and of any width, over
random mappings and data: replayed in one range and in several, each group once, as rdflib has it
at the end."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import load_relations, make_job
from ontoweir.runtime.engine.configure_run import configure_run
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.in_process import replay_here
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query, write_cell
from tests.sparql_counts.case import Branch, Case, Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

BLOCKS = 2
PROJECTS = settings().max_examples // 3 + 2
STEP = 5
WAITS = {
    # how many minutes later ?t2 may be than ?t1, and ?t1 than ?t2
    "FILTER(?t1 < ?t2)": (None, 0),
    "FILTER(?t1 <= ?t2)": (None, 0),
    'FILTER(?t2 > ?t1 && ?t2 - ?t1 <= "PT5M"^^xsd:dayTimeDuration)': (5, 0),
    'FILTER(?t2 = ?t1 + "PT5M"^^xsd:dayTimeDuration)': (5, 0),
    'FILTER(?t2 <= ?t1 + "PT15M"^^xsd:dayTimeDuration) '
    'FILTER(?t1 <= ?t2 + "PT10M"^^xsd:dayTimeDuration)': (15, 10),
    'FILTER(?t1 - ?t2 < "PT10M"^^xsd:dayTimeDuration) '
    'FILTER(?t2 - ?t1 < "PT10M"^^xsd:dayTimeDuration)': (5, 5),
}


def limit_times(draw: random.Random, branch: Branch) -> Branch:
    """A branch of two times, now and then with a window in both directions."""
    if {a.time for a in branch.atoms} < {"t1", "t2"} or draw.random() < 0.3:
        return branch
    lines = tuple(line for line in branch.lines if "?t1" not in line)
    return replace(branch, lines=(*lines, draw.choice(tuple(WAITS))))


def find_wait(branch: Branch, time: str) -> int | None:
    """For how many minutes after a bucket's time matches may come (None: for ever)."""
    if {a.time for a in branch.atoms} - {""} < {"t1", "t2"}:
        return 0
    waits = [WAITS[line][time == "t2"] for line in branch.lines if line in WAITS]
    return None if not waits or waits[0] is None else waits[0]


def ask(draw: random.Random, seed: int, case: Case) -> tuple[Query, str] | None:
    """An aggregate query over a project, and a time that all its branches have."""
    queries = [case.query, *(random_query(64 * seed + i, case) for i in range(60))]
    asked = [q for q in queries if any(name.startswith("(") for name in q.head)]
    several = [q for q in asked if any(len(_times(b)) > 1 for b in q.branches)]
    if not asked:
        return None
    query = draw.choice(several if several and draw.random() < 0.7 else asked)
    query = replace(query, branches=tuple(limit_times(draw, b) for b in query.branches))
    times = set.intersection(*map(_times, query.branches))
    return (query, draw.choice(sorted(times))) if times else None


def _times(branch: Branch) -> set[str]:
    return {a.time for a in branch.atoms} - {""}


@dataclass(frozen=True)
class Grouping:
    """Buckets of a time, in minutes, from so many minutes after 23:00 of the day before."""

    time: str
    minutes: int
    origin: int

    @property
    def call(self) -> str:
        began = f', "2019-12-31T23:{self.origin:02}:00Z"^^xsd:dateTime' if self.origin else ""
        return f'ow:tumble(?{self.time}, "PT{self.minutes}M"^^xsd:dayTimeDuration{began})'

    @property
    def plain(self) -> str:
        """The same for rdflib, in seconds."""
        width, begun = 60 * self.minutes, datetime(2019, 12, 31, 23, self.origin, tzinfo=UTC)
        first = int(begun.timestamp()) % width if self.origin else 0
        return f"FLOOR((?{self.time} - {first}) / {width}) * {width} + {first}"


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare one query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    found = ask(draw, seed, case)
    if found is None:
        return Counter(none=1)
    query, time = found
    grouping = Grouping(time, draw.choice((2, 5, 7, 10, 13, 15, 30)), draw.choice((0, 0, 3, 11)))
    group = (*query.group, f"({grouping.call} AS ?bucket)")
    query = replace(query, head=("?bucket", *query.head), group=group)
    folder.mkdir()
    write_case(case, folder)
    text = "PREFIX ow: <urn:ontoweir:>\n" + write_query(query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
        verdict = check_query(compiled.union, workspace.project.catalog)
    except QueryError:
        return Counter(refused=1)
    assert verdict.witness is None  # none is looked for
    if verdict.plans is None:
        assert any(find_wait(b, t) is None for b in query.branches for t in ("t1", "t2")), text
        return Counter({"not bounded": 1})
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    translated = translate_query(text.replace(grouping.call, grouping.plain))
    project = Project(folder)
    told = Counter[str]()
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        statics = load_relations(workspace, [compiled], start_session)
        moments = list(
            ask_rdflib(translated, project.read_graphs(tuple(BASE + g for g in query.graphs)))
        )
        made = []
        for ranges, chunk in ((1, 100), (draw.choice((2, 3)), draw.choice((1, 3)))):
            with pytest.MonkeyPatch.context() as patch:
                options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
                options |= {"ranges": ranges, "rows_per_chunk": chunk}
                made.append(replay_here(patch, job, folder / "answers.parquet", **options)[0])
        shown = f"{text}\n{show_case(replace(case, rows=rows))}"
        assert made[0] == made[1], shown
        read = configure_run([job], job.catalog).streams
        last = max((int(r[0] or 0) for name in read for r in rows[name]), default=-1)
        over = datetime(2020, 1, 1) + timedelta(minutes=STEP * (last + 1))
        waits = [find_wait(b, time) for b in query.branches]
        check_final(moments[-1][1] if moments else Counter(), made[0], query, grouping, over, waits)
        told["with answers" if made[0] else "without"] += 1
    return told


def check_final(
    wanted: Answers,
    found: list[dict[str, Any]],
    query: Query,
    grouping: Grouping,
    over: datetime,
    waits: list[int | None],
) -> None:
    """Assert that all groups that are final are there, once, as they are at the end."""
    names = [name.split()[-1].strip("?)") for name in query.head]
    width = timedelta(minutes=grouping.minutes)
    known = [w for w in waits if w is not None]
    longest = timedelta(minutes=max(known)) if len(known) == len(waits) else None
    seen = Counter[Any]()
    for row in found:
        begun = row[names[0]].replace(tzinfo=UTC)
        seen[(str(int(begun.timestamp())), *(write_cell(row[n]) for n in names[1:]))] += 1
        ends = begun.replace(tzinfo=None) + width
        assert ends <= row["at"] <= over
        assert longest is None or row["at"] <= ends + longest
    for cells, count in seen.items():
        assert count == wanted[cells] == 1, cells
    if longest is None:
        return
    for cells in wanted:
        ends = datetime.fromtimestamp(int(cells[0]), UTC).replace(tzinfo=None) + width
        assert cells in seen or ends + longest > over, cells


@pytest.mark.parametrize("block", range(BLOCKS))
def test_buckets_of_one_of_several_times(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 5, told
    assert told["refused"] < PROJECTS / 2, told
