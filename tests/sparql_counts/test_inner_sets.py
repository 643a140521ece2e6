"""SELECT DISTINCT within queries whose solutions count, over random mappings and data: joined with
patterns, filtered and counted, as rdflib has the same text at every time."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.ask_rdflib import ask_rdflib, translate_query
from tests.sparql_counts.case import Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

PROJECTS = settings().max_examples // 5 + 1
PREFIXES = f"PREFIX : <{BASE}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"


def make_text(draw: random.Random, inner: Query) -> tuple[str, list[str], bool]:
    """A query over the set of another one's solutions: its text, its columns, and whether it
    counts."""
    times = sorted({a.time for a in inner.branches[0].atoms} - {""})
    shown = draw.choice(times) if times and draw.random() < 0.3 else ""
    head = (*inner.head, *([f"?{shown}"] if shown else []))
    body = write_query(replace(inner, head=head, distinct=True))
    lines = [f"{{ {body[body.index('SELECT') :]} }}"]
    names = [name[1:] for name in inner.head]
    if draw.random() < 0.7:
        tied = draw.choice(names)
        property_ = draw.choice("PQRvw")
        lines.append(f"GRAPH ?t9 {{ ?{tied} :{property_} ?other }}")
        if shown and draw.random() < 0.6:
            lines.append(f"FILTER(?t9 {draw.choice(('<', '>=', '='))} ?{shown})")
        names = [*draw.sample(names, k=draw.randint(1, len(names))), "other"]
    else:
        names = draw.sample(names, k=draw.randint(1, len(names)))
    counts = draw.random() < 0.25
    asked = "(COUNT(*) AS ?n)" if counts else " ".join(f"?{n}" for n in names)
    where = "\n  ".join(lines)
    text = f"{PREFIXES}SELECT {asked}\nWHERE {{\n  {where}\n}}\n"
    return text, ["n"] if counts else names, counts


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare one nested query of a project over two contents of its tables."""
    draw, case = random.Random(seed), random_case(seed)
    queries = [case.query, *(random_query(16 * seed + i, case) for i in range(15))]
    plain = [q for q in queries if not q.graphs and not any(n[0] == "(" for n in q.head)]
    if not plain:
        return Counter(none=1)
    text, names, counts = make_text(draw, plain[0])
    folder.mkdir()
    write_case(case, folder)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
    except QueryError as error:
        return Counter({"refused": 1, f"refused: {error.what.split('?')[0]}": 1})
    if workspace.check(compiled).plans is None:
        return Counter(undecided=1)
    job = prepare_job(workspace, compiled)
    project, told = Project(folder), Counter[str]()
    asked = translate_query(text.replace("(COUNT(*) AS ?n)", "(COUNT(*) AS ?n) "))
    for content in range(2):
        rows = random_rows(2 * seed + content, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        found = replay_case(workspace, compiled, job, names)
        shown = Counter[tuple[str, ...]]()
        for moment, wanted in ask_rdflib(asked, project.read_graphs(())):
            until = [found[at] for at in sorted(found) if at <= moment]
            if counts:
                shown = Counter(until[-1] if until else {("0",): 1})
                wanted = Counter({row[:1]: n for row, n in wanted.items()})
            else:
                shown = sum(until, Counter())
            assert shown == wanted, (
                f"{text}\n{show_case(replace(case, rows=rows))}\n{moment}\n"
                f"{shown - wanted}\n{wanted - shown}"
            )
        told["with answers" if shown else "without"] += 1
    return told


@pytest.mark.parametrize("block", range(2))
def test_sets_within_queries_that_count_are_those_of_sparql(block: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(block * PROJECTS, (block + 1) * PROJECTS):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > PROJECTS / 10, told
