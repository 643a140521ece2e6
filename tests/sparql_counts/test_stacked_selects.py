"""SELECTs with aggregates by buckets of time within others, over random mappings and data: rows of
groups are joined with patterns, filtered, and grouped again, as rdflib has the same nested query
over the groups that are final."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.add_views import tables_of
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.test_random_buckets import EPOCH, Buckets, draw_having, time_of
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

PROJECTS = settings().max_examples // 3 + 4
PREFIXES = (
    f"PREFIX : <{BASE}>\nPREFIX ow: <urn:ontoweir:>\n"
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)


class Outer:
    """What is asked of the rows of the query inside: the same in two writings, ours and, with times
    in seconds, rdflib's."""

    def __init__(self, draw: random.Random, inner: Query, size: int) -> None:
        self.names = [name.split()[-1].strip("?)") for name in inner.head]
        self.counts = [
            h.split()[-1].strip("?)") for h in inner.head if h.startswith(("(COUNT", "(SUM"))
        ]
        self.grouped = [h[1:] for h in inner.head[1:] if h.startswith("?") and h != "?ending"]
        self.lines: list[str] = []
        self.inside = ""
        if self.counts and draw.random() < 0.3:
            name = draw.choice(self.counts)
            self.lines.append(
                f"FILTER(?{name} {draw.choice(('>', '<=', '!='))} {draw.randint(0, 3)})"
            )
        self.group: list[str] = []
        self.their_group: list[str] = []
        self.distinct = False
        if draw.random() < 0.4:
            wide = size * draw.choice((1, 2, 3))
            self.group = [f'(ow:tumble(?bucket, "PT{wide}M"^^xsd:dayTimeDuration) AS ?wide)']
            self.their_group = [f"(FLOOR(?bucket / {60 * wide}) * {60 * wide} AS ?wide)"]
            self.wide = wide
            kept = [n for n in self.grouped if draw.random() < 0.5]
            self.group += [f"?{n}" for n in kept]
            self.their_group += [f"?{n}" for n in kept]
            calls = ["(COUNT(*) AS ?c)"]
            for name in self.counts[:2]:
                function = draw.choice(("MAX", "MIN", "SUM"))
                calls.append(f"({function}(?{name}) AS ?c_{name})")
            self.head = ["?wide", *(f"?{n}" for n in kept), *calls]
        else:
            self.distinct = draw.random() < 0.3
            others = [n for n in self.names if n not in ("bucket", "ending")]
            shown = draw.sample(others, k=draw.randint(1, len(others)))
            self.head = [f"?{n}" for n in shown]
            if draw.random() < 0.5:
                self.head.insert(draw.randint(0, len(shown)), "?bucket")
        self.draw, self.join = draw, ""

    def join_pattern(self, atoms: str, size: int) -> None:
        """Join rows with a pattern of a stream that holds at a time near the bucket's end."""
        near = f'"PT{size + self.draw.choice((5, 10, 20))}M"^^xsd:dayTimeDuration'
        zero = f'"PT{self.draw.choice((0, size, 5))}M"^^xsd:dayTimeDuration'
        self.join = (
            f"GRAPH ?t9 {{ {atoms} }} FILTER(?t9 - ?bucket <= {near} && ?t9 - ?bucket >= {zero})"
        )

    def write(self, inner: str, head: list[str], group: list[str], more: str) -> str:
        """The text of the whole query."""
        word = "DISTINCT " if self.distinct else ""
        body = "\n  ".join([f"{{ {inner} }}", self.join, *self.lines, more])
        grouped = f"GROUP BY {' '.join(group)}\n" if group else ""
        return f"{PREFIXES}SELECT {word}{' '.join(head)}\nWHERE {{\n  {body}\n}}\n{grouped}"


def _body(text: str) -> str:
    """A query without its prefixes."""
    return text[text.index("SELECT") :]


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare one nested query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    queries = [case.query, *(random_query(16 * seed + i, case) for i in range(15))]
    asked = next(((q, t) for q in queries if (t := time_of(q)) is not None and not q.graphs), None)
    if asked is None:
        return Counter(none=1)
    plain, time = asked
    slide = draw.choice((5, 5, 10, 15))
    size = slide * draw.choice((1, 1, 2, 3))
    kind = "tumble" if size == slide else "hop"
    buckets = Buckets(kind, slide, size, False)
    plain, having = draw_having(draw, plain)
    query = buckets.ours(plain, time)
    outer = Outer(draw, query, slide)
    if not outer.group and outer.grouped and draw.random() < 0.5:
        name = draw.choice(outer.grouped)
        outer.join_pattern(f"?{name} :{draw.choice('PQR')} ?other", size)
    folder.mkdir()
    write_case(case, folder)
    text = outer.write(_body(write_query(query)) + having, outer.head, outer.group, "")
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
    except QueryError as error:
        return Counter({"refused": 1, f"refused: {error.what.split('?')[0]}": 1})
    if workspace.check(compiled).plans is None:
        return Counter(undecided=1)
    job = prepare_job(workspace, compiled)
    theirs = buckets.theirs(plain, time)
    project = Project(folder)
    read = tables_of(job.union) & {table.name for table in case.tables if table.stream}
    told = Counter[str]()
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        names = [name.split()[-1].strip("?)") for name in outer.head]
        found = Counter[tuple[str, ...]]()
        for answers in replay_case(workspace, compiled, job, names).values():
            found.update(answers)
        moments = [5 * int(r[0] or 0) for t in case.tables if t.name in read for r in rows[t.name]]
        wanted: Answers = Counter()
        if moments:
            last = EPOCH + timedelta(minutes=max(moments))
            wanted = _ask(outer, theirs, having, buckets, last, project)
        shown = Counter(
            {
                tuple(
                    _seconds(cell) if name in ("bucket", "wide") else cell
                    for name, cell in zip(names, row, strict=True)
                ): n
                for row, n in found.items()
            }
        )
        case = replace(case, rows=rows)
        assert shown == wanted, f"{text}\n{show_case(case)}\n{shown - wanted}\n{wanted - shown}"
        told["with answers" if shown else "without"] += 1
    return told


def _ask(
    outer: Outer, theirs: Query, having: str, buckets: Buckets, moment: datetime, project: Project
) -> Answers:
    """What rdflib answers of the groups that are final by the time of the last row."""
    last = int(moment.replace(tzinfo=UTC).timestamp())
    final = f"FILTER(?bucket + {60 * buckets.size} <= {last})"
    inner = _body(write_query(theirs)) + having
    text = outer.write(inner, outer.head, outer.their_group, final)
    asked = list(ask_rdflib(translate_query(text), project.read_graphs(())))
    answers = asked[-1][1] if asked else Counter()
    if not outer.group:
        return answers
    # a wide bucket is over with the last of the buckets in it: they end at multiples of the slide
    names = [name.split()[-1].strip("?)") for name in outer.head]
    place = names.index("wide")
    late = 60 * (outer.wide + buckets.size - buckets.slide)
    return Counter({row: n for row, n in answers.items() if int(float(row[place])) + late <= last})


def _seconds(moment: str) -> str:
    return str(int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()))


@pytest.mark.parametrize("block", range(2))
def test_nested_groups_are_those_of_sparql(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 10, told
