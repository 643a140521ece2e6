"""Random aggregates by buckets of time, over random mappings and data: each group once, when its
bucket is over, as rdflib has it at the end; also buckets that overlap, HAVING, and expressions over
aggregates."""

import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.add_views import tables_of
from tests.sparql_counts.ask_rdflib import Answer, Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

BLOCKS = 2
EPOCH = datetime(2020, 1, 1)
"""When the first step is (write_rows)."""
TIMES = {"bucket", "ending", "earliest", "latest"}
PROJECTS = settings().max_examples // 3


def time_of(query: Query) -> str | None:
    """The one time of an aggregate query, of all its branches; None of others."""
    times = [{a.time for a in branch.atoms} - {""} for branch in query.branches]
    grouped = any(name.startswith("(") for name in query.head)
    same = all(len(t) == 1 and t == times[0] for t in times)
    return min(times[0]) if grouped and same else None


@dataclass(frozen=True)
class Buckets:
    """Buckets of `size` minutes, one every `slide` minutes; `grows`: of `slide` minutes, and of
    multiples, up to `size`. `end`: whether the end is asked for."""

    kind: str
    slide: int
    size: int
    end: bool

    def ours(self, query: Query, time: str) -> Query:
        """The query grouped by the buckets, too, whose start is the first column."""
        given = (self.size,) if self.kind == "tumble" else (self.slide, self.size)
        shown = ", ".join(f'"PT{n}M"^^xsd:dayTimeDuration' for n in given)
        calls = [f"(ow:{self.kind}(?{time}, {shown}) AS ?bucket)"]
        if self.end:
            calls.append(f"(ow:{self.kind}End(?{time}, {shown}) AS ?ending)")
        return self._group(query, calls)

    def theirs(self, query: Query, time: str) -> Query:
        """As rdflib computes it, of times in seconds: every match once for each bucket."""
        slide, size = 60 * self.slide, 60 * self.size
        begins = f"(FLOOR(?{time} / {slide}) - ?lag) * {slide}"
        ends = f"{begins} + {size}"
        if self.kind == "cumulate":
            begins = f"FLOOR(?{time} / {size}) * {size}"
            ends = f"{begins} + (?lag + 1) * {slide}"
        lags = " ".join(map(str, range(-(-self.size // self.slide))))
        lines = f"VALUES ?lag {{ {lags} }}", f"FILTER({ends} > ?{time})"
        branches = tuple(replace(b, lines=(*b.lines, *lines)) for b in query.branches)
        calls = [f"({begins} AS ?bucket)"] + [f"({ends} AS ?ending)"] * self.end
        return self._group(replace(query, branches=branches), calls)

    def _group(self, query: Query, calls: list[str]) -> Query:
        names = ("?bucket", *["?ending"] * self.end)
        return replace(query, head=(*names, *query.head), group=(*query.group, *calls))


def draw_buckets(draw: random.Random) -> Buckets:
    kind = draw.choice(("tumble", "hop", "hop", "cumulate"))
    slide = draw.choice((1, 2, 3, 5))
    if kind == "tumble":
        return Buckets(kind, slide, slide, draw.random() < 0.3)
    size = slide * draw.choice((1, 2, 3)) if kind == "cumulate" else draw.choice((1, 2, 3, 4, 7))
    return Buckets(kind, slide, size, kind == "cumulate" or draw.random() < 0.3)


def draw_having(draw: random.Random, query: Query) -> tuple[Query, str]:
    """The query with an expression over its aggregates, and a HAVING; or without."""
    calls = [h[1:].split(" AS ")[0] for h in query.head if re.match(r"\((MIN|MAX|SUM|COUNT)\(", h)]
    numbers = [c for c in calls if "(?d)" in c and not c.startswith("COUNT")] + ["COUNT(*)"]
    if draw.random() < 0.4:
        more = f"({draw.choice(numbers)} * 2 + {draw.randint(0, 3)} AS ?more)"
        query = replace(query, head=(*query.head, more))
    if draw.random() < 0.5:
        return query, ""
    left, right = (draw.choice(numbers) for _ in range(2))
    sign, n = draw.choice(("<", "<=", ">", ">=", "!=")), draw.randint(0, 3)
    conditions = (f"{left} {sign} {n}", f"{left} {sign} {right}", f"!({left} {sign} {n})")
    both = f"{draw.choice(conditions)} {draw.choice(('&&', '||'))} {draw.choice(conditions)}"
    return query, f"HAVING({draw.choice((*conditions, both))})\n"


def draw_times(draw: random.Random, query: Query, time: str) -> Query:
    """The query with aggregates of times; or without."""
    shown = {
        f"(MIN(?{time}) AS ?earliest)": 0.2,
        f"(MAX(?{time}) AS ?latest)": 0.2,
        f"(COUNT(DISTINCT ?{time}) AS ?moments)": 0.3,
    }
    more = (call for call, often in shown.items() if draw.random() < often)
    return replace(query, head=(*query.head, *more))


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare one query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    queries = [case.query, *(random_query(16 * seed + i, case) for i in range(15))]
    asked = next(((q, t) for q in queries if (t := time_of(q)) is not None), None)
    if asked is None:
        return Counter(none=1)
    buckets = draw_buckets(draw)
    plain, having = draw_having(draw, asked[0])
    plain = draw_times(draw, plain, asked[1])
    if draw.random() < 0.15:  # groups without an aggregate
        plain = replace(plain, head=tuple(h for h in plain.head if not h.startswith("(")))
    query = buckets.ours(plain, asked[1])
    folder.mkdir()
    write_case(case, folder)
    text = "PREFIX ow: <urn:ontoweir:>\n" + write_query(query) + having
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
        job = prepare_job(workspace, compiled)
    except QueryError:
        return Counter(refused=1)
    translated = translate_query(write_query(buckets.theirs(plain, asked[1])) + having)
    project = Project(folder)
    step = next(iter(workspace.project.catalog.streams.values())).step_us
    read = tables_of(job.union) & {table.name for table in case.tables if table.stream}
    told = Counter[str]()
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        names = [name.split()[-1].strip("?)") for name in query.head]
        found = replay_case(workspace, compiled, job, names)
        graphs = project.read_graphs(tuple(BASE + g for g in query.graphs))
        asked_at = list(ask_rdflib(translated, graphs))
        wanted: Answers = asked_at[-1][1] if asked_at else Counter()
        moments = [5 * int(r[0] or 0) for t in case.tables if t.name in read for r in rows[t.name]]
        over = EPOCH + timedelta(minutes=max(moments), microseconds=step) if moments else None
        expected = {
            row: at for row in wanted if over is not None and (at := _end(row, buckets)) <= over
        }
        shown = {
            tuple(
                _seconds(cell) if name in TIMES else cell
                for name, cell in zip(names, row, strict=True)
            ): at.replace(tzinfo=None)
            for at, rows_at in found.items()
            for row in rows_at
        }
        assert shown == expected, f"{text}\n{show_case(replace(case, rows=rows))}"
        told["with answers" if shown else "without"] += 1
    return told


def _end(row: Answer, buckets: Buckets) -> datetime:
    """When the bucket ends whose start is the first column, in seconds after 1970."""
    seconds = int(row[1]) if buckets.end else int(row[0]) + 60 * buckets.size
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _seconds(moment: str) -> str:
    return str(int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_buckets_are_those_of_sparql(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 4, told
    assert told["refused"] < PROJECTS / 2, told
