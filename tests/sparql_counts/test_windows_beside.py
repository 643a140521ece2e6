"""Sliding windows of solutions beside which patterns match, or do not, as of their own time: what
holds at every time is what rdflib finds with that time as NOW()."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import AskedFor, load_relations, make_job
from ontoweir.runtime.engine.configure_run import configure_run
from ontoweir.runtime.spark.start_session import start_session
from tests.oracle.budget import SEEDS, budget
from tests.runtime.in_process import replay_here
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.test_computed_absence import PREFIXES, make_case
from tests.sparql_counts.test_random_windows import ask_at_each, standing, step_of
from tests.sparql_counts.write_case import show_case, write_case

Make = Callable[[Random], tuple[str, str, tuple[str, ...]]]
"""Makes a query, the same as rdflib is asked, and the names of its columns."""
WINDOWS = (
    'FILTER(?t > NOW() - "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(?t >= NOW() - "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(NOW() - ?t < "PT{m}M"^^xsd:dayTimeDuration)',
    'FILTER(?t > ow:floor(NOW(), "PT10M"^^xsd:dayTimeDuration) - "PT{m}M"^^xsd:dayTimeDuration)',
)
DELAY = 'FILTER(?t <= NOW() - "PT5M"^^xsd:dayTimeDuration)'


def make_clause(random: Random, number: int, *, inside: bool) -> tuple[str, str]:
    """A clause, and the variable that it alone binds ("": none)."""
    p, u = f"?p{number}", f"?u{number}"
    kind = random.choice(["OPTIONAL", "OPTIONAL", "FILTER NOT EXISTS", "FILTER EXISTS", "MINUS"])
    value = p if kind == "OPTIONAL" or random.random() < 0.5 else str(random.randint(0, 3))
    if inside:
        body = f"?x :{random.choice('pm')} {value}"
    elif kind == "MINUS" or random.random() < 0.4:
        body = f"?x :f {value}"
    else:
        since = f'{u} > ?t - "PT{random.choice([5, 10, 15])}M"^^xsd:dayTimeDuration'
        body = f"GRAPH {u} {{ ?x :p {value} }} FILTER({u} {random.choice(['<', '<='])} ?t"
        body += f" && {since})" if random.random() < 0.8 else ")"
    if kind == "FILTER EXISTS" and random.random() < 0.3:
        return f"FILTER(?n > 1 || EXISTS {{ {body} }})", ""
    return f"{kind} {{ {body} }}", p if kind == "OPTIONAL" else ""


def make_query(random: Random) -> tuple[str, str, tuple[str, ...]]:
    """A query with a window; the same with NOW() outside of GRAPH, whose time rdflib has there; and
    the names of its columns."""
    inside, outside, binds = "", "", ["?n"]
    for number in range(random.choice([1, 1, 2])):
        inner = random.random() < 0.4
        text, bound = make_clause(random, number, inside=inner)
        binds += [bound] * bool(bound)
        inside, outside = (f"{inside} {text}", outside) if inner else (inside, f"{outside} {text}")
    window = random.choice(WINDOWS).format(m=random.choice([5, 10, 12, 20]))
    window += f" {DELAY}" * (random.random() < 0.2)
    within = random.random() < 0.3
    late, made = "", random.random()
    if made < 0.2:
        late = f"BIND(COALESCE({binds[-1]}, 7) + ?n AS ?b)"
        binds.append("?b")
    elif made < 0.4:
        late = f"FILTER(!BOUND({binds[-1]}) || {binds[-1]} > 0)"
    outside = f"{outside} {late}"
    asked = f"GRAPH ?t {{ ?x :n ?n {inside} }} {window} {outside}"
    pattern = f"GRAPH ?t {{ ?x :n ?n {inside} {window} }} {outside}" if within else asked
    v = random.choice(binds)
    match random.randrange(5):
        case 0:
            head, group = f"DISTINCT ?x {v}", ""
        case 1 | 2:
            calls = ["COUNT(*)", f"COUNT({v})", "MAX(?n)", f"SUM(COALESCE({v}, 0))"]
            shown = random.sample(calls, k=2)
            head = "?x " + " ".join(f"({call} AS ?c{n})" for n, call in enumerate(shown))
            group = "GROUP BY ?x\n"
        case _:
            head, group = f"?x {' '.join(dict.fromkeys(binds))}", ""
    names = [w.strip("?)") for w in head.split() if w.startswith("?") and "BY" not in w]
    names = [n for n in dict.fromkeys(names) if n == "x" or f"({n}" not in head]
    if group:
        names = ["x", "c0", "c1"]
    start, end = f"{PREFIXES}SELECT {head}\nWHERE {{\n  ", f"\n}}\n{group}"
    return f"{start}{pattern}{end}", f"{start}{asked}{end}", tuple(names)


def run_seed(seed: int, folder: Path, make: Make = make_query) -> str:
    """Compare the query of a seed at every time."""
    random = Random(seed)
    case = make_case(random)
    text, plain, names = make(random)
    folder.mkdir(exist_ok=True)
    write_case(case, folder)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
    except QueryError as error:
        return f"refused: {error.what}"
    verdict = check_query(compiled.union, workspace.project.catalog, disprove=False)
    if verdict.plans is None:
        return "not bounded"
    asked = AskedFor(emit="changes" if random.random() < 0.5 else None)
    job = make_job(workspace, compiled, verdict, Statistics(), asked)[0]
    options: dict[str, Any] = {"statics": load_relations(workspace, [compiled], start_session)}
    with pytest.MonkeyPatch.context() as patch:
        rows = replay_here(patch, job, folder / "answers.parquet", **options)[0]
    read = configure_run([job], job.catalog).streams
    last = max((int(r[0] or 0) for name in read for r in case.rows[name]), default=-1)
    for moment, wanted in ask_at_each(plain, Project(folder).read_graphs()):
        if step_of(moment) > last:
            break
        found = standing(rows, list(names), set(), moment)
        assert found == wanted, (
            f"{seed} at {moment}\ntoo many: {found - wanted}\nmissing: {wanted - found}\n{text}"
            + show_case(replace(case, note=text))
        )
    return "with answers" if rows else "without"


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run_seed(seed, tmp_path / str(seed)) for seed in range(6))
    assert told["with answers"] >= 3, told


@budget(0.08)
@given(seed=SEEDS)
def test_windows_beside_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case")))


@pytest.mark.parametrize(
    ("when", "what"),
    [
        ('?u <= ?t + "PT5M"^^xsd:dayTimeDuration', "are final later"),
    ],
)
def test_windows_that_would_take_answers_back(tmp_path: Path, when: str, what: str) -> None:
    write_case(make_case(Random(0)), tmp_path)
    clause = f"FILTER NOT EXISTS {{ GRAPH ?u {{ ?x :p ?p }} FILTER({when}) }}"
    text = f"{PREFIXES}SELECT ?x {{ GRAPH ?t {{ ?x :n ?n }} {WINDOWS[0].format(m=10)} {clause} }}"
    (tmp_path / "q.rq").write_text(text, encoding="utf-8")
    with pytest.raises(QueryError, match=what):
        Workspace(load_project(tmp_path, environ={})).compile("q")
