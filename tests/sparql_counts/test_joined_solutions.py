"""Windows of solutions joined with the latest ones of keys, in groups, subqueries and OPTIONAL, by
variables and comparisons, and beside which others are, or are not, with NOW() on both sides: what
holds at every time is what rdflib finds with that time as NOW(), replayed in one range and in
several, live, as changes and as snapshots, within the bound."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import load_relations, make_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.spark.start_session import start_session
from tests.oracle import random_queries
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_windows_beside import run_live
from tests.runtime.in_process import replay_here
from tests.sparql_counts import case as cases
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.test_computed_absence import PREFIXES, START, make_case
from tests.sparql_counts.test_random_windows import ask_at_each, standing, step_of
from tests.sparql_counts.write_case import show_case, write_case

STEP_US = 300_000_000
WINDOW = 'FILTER(?t{n} > NOW() - "PT{m}M"^^xsd:dayTimeDuration)'


def draw_latest(random: Random, number: int) -> tuple[str, list[str]]:
    """The latest of each key, in one of its phrasings, and what it binds, ?x first."""
    p, v = random.choice("nmp"), f"?v{number}"
    x, t = random.choice(["?x", "?x", f"?y{number}"]), f"?t{number}"
    if random.random() < 0.2:
        inner = f"{{ SELECT {x} (MAX(?u) AS {t}) {{ GRAPH ?u {{ {x} :{p} ?w }} }} GROUP BY {x} }}"
        return f"{inner} GRAPH {t} {{ {x} :{p} {v} }}", [x, v]
    limit = random.choice(["", "", " FILTER({v} > 0)"])
    rows = f"GRAPH {t} {{ {x} :{p} {v} }}{limit.format(v=v)}"
    body = f"GRAPH ?u{number} {{ {x} :{p} ?w{number} }}{limit.format(v=f'?w{number}')}"
    kind = random.choice(["{0} {1}", "{1} {0}"])
    later = f"FILTER NOT EXISTS {{ {body} FILTER(?u{number} > {t}) }}"
    text = kind.format(rows, later)
    if random.random() < 0.3:
        text = f"{{ {text} }}"
    elif random.random() < 0.2:
        text = f"{{ SELECT {x} {v} {{ {text} }} }}"
    return text, [x, v]


def _draw_beside(random: Random, number: int, *, timed: bool) -> str:
    """NOT EXISTS, or EXISTS, of a window, or of the latest of each key; `timed`: beside ?t0."""
    p, k, u = random.choice("nmp"), f"?k{number}", f"?e{number}"
    rows = f"GRAPH {u} {{ {random.choice(['?x', '?x', '?o' + str(number)])} :{p} {k} }}"
    said = ["", f"FILTER({k} > 0)"]
    if timed:
        said += [f"FILTER({k} {random.choice(['>', '<=', '='])} ?v0)"]
        said += [f"FILTER({u} {random.choice(['<', '>'])} ?t0)"] * 2
    if random.random() < 0.6:
        some = f'FILTER({u} > NOW() - "PT{random.choice([5, 10, 12, 20])}M"^^xsd:dayTimeDuration)'
    else:
        later = f"GRAPH ?l{number} {{ {rows.split('{')[1].split(':')[0]} :{p} ?w{number} }}"
        some = f"FILTER NOT EXISTS {{ {later} FILTER(?l{number} > {u}) }}"
        said = said[:-2] if timed else said
    no = random.choice(["NOT ", "NOT ", ""])
    return f"FILTER {no}EXISTS {{ {rows} {some} {random.choice(said)} }}"


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    absent = random.choice([0, 0, 1, 1, 2])
    parts, bound, last = [], list[list[str]](), list[str]()
    if random.random() < 0.75:
        p = random.choice("nmp")
        window = WINDOW.format(n=0, m=random.choice([5, 10, 12, 20]))
        more = random.choice(["", "", " ?x :f ?f . ", " VALUES ?v0 { 0 1 2 } "])
        parts.append(f"GRAPH ?t0 {{ ?x :{p} ?v0 }} {window}{more}")
        bound.append(["?x", "?v0", *(["?f"] if "?f" in more else [])])
    while len(bound) < 2 - (absent > 0) or (len(bound) < 3 and random.random() < 0.4):
        text, binds = draw_latest(random, len(bound))
        said = random.choice(["", "", f"FILTER({binds[1]} {random.choice(['<', '>=', '!='])} ?v0)"])
        said = said if any("?v0" in names for names in bound) else ""
        if bound and "SELECT" not in text and not text.startswith("{") and random.random() < 0.35:
            last.append(f"OPTIONAL {{ {text} {said} }}")
        else:
            parts.append(f"{text} {said}")
        bound.append(binds)
    timed = any("?v0" in names for names in bound)
    parts += [_draw_beside(random, 7 + n, timed=timed) for n in range(absent)]
    random.shuffle(parts)
    every = list(dict.fromkeys(v for names in bound for v in names))
    # rdflib leaves out solutions of which nothing that is shown has a value
    shown = [every[0], *random.sample(every[1:], k=random.randint(0, min(3, len(every) - 1)))]
    distinct = random.choice(["", "", "DISTINCT "])
    where = "\n  ".join((*parts, *last))
    text = f"{PREFIXES}SELECT {distinct}{' '.join(shown)}\nWHERE {{\n  {where}\n}}\n"
    return text, tuple(v[1:] for v in shown)


def run_seed(
    seed: int,
    folder: Path,
    make: Callable[[Random], tuple[str, tuple[str, ...]]] = make_query,
) -> str:
    """Compare the query of a seed, which is drawn, at every time: what came of it."""
    random = Random(seed)
    case = make_case(random)
    return compare_changes(case, make(random), random, folder, lambda u: u.joined is not None)


def compare_changes(
    case: cases.Case,
    asked: tuple[str, tuple[str, ...]],
    random: Random,
    folder: Path,
    is_such: Callable[[SpjUnion], bool],
) -> str:
    """Compare what a query tells with what rdflib finds at every time: what came of it.

    Args:
        case: the tables, with their rows, and the mappings.
        asked: the query, and the variables that it shows.
        random: cuts the history.
        folder: for the project.
        is_such: whether it is compiled as is meant.
    """
    text, names = asked
    folder.mkdir(exist_ok=True)
    write_case(case, folder)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
    except QueryError as error:
        return f"refused: {error.what}"
    if not is_such(compiled.union):
        return "another kind"
    catalog = workspace.project.catalog
    verdict = check_query(compiled.union, catalog)
    if verdict.plans is None:
        return f"{verdict.tier}"
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    assert job.emit is Emit.CHANGES
    statics = load_relations(workspace, [compiled], start_session)
    wanted = ask_at_each(text, Project(folder).read_graphs())
    first, last = _find_ends(case, compiled.union)  # before the first row it has not begun
    wanted = [(at, found) for at, found in wanted if first <= step_of(at) <= last]
    options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
    options |= {"ranges": random.choice([1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
    with pytest.MonkeyPatch.context() as patch:
        rows, summary = replay_here(patch, job, folder / "1.parquet", **options)
        bound = bound_changes(verdict, catalog).rows
        assert bound is None or summary.state_rows_max <= bound, text
        snapshots, _ = replay_here(
            patch, replace(job, emit=Emit.SNAPSHOTS), folder / "2.parquet", **options
        )
    live, done = _run_live(case, job, random, folder, statics)
    for moment, found in wanted:
        for how, changes in (("replayed", rows), ("live", live)):
            if how == "live" and _utc(moment).timestamp() * 1_000_000 > done:
                continue
            held = standing(changes, list(names), set(), moment)
            assert held == found, (
                f"{how}, at {moment}\ntoo many: {held - found}\nmissing: {found - held}\n"
                + show_case(replace(case, note=text))
            )
        now = [row for row in snapshots if row["at"].replace(tzinfo=UTC) == _utc(moment)]
        if now:
            assert standing(now, list(names), set(), moment) == found, (moment, text)
    return "with answers" if rows else "without"


def _utc(moment: Any) -> Any:
    return moment.replace(tzinfo=UTC)


def _read(case: cases.Case, union: Any) -> list[str]:
    """The streams that a query reads, in views too."""
    tables = {t for view in union.views for t in view.tables}
    tables |= {o.table for query in union.disjuncts for o in query.occurrences}
    return [t.name for t in case.tables if t.stream and t.name in tables]


def _find_ends(case: cases.Case, union: Any) -> tuple[int, int]:
    """The first and the last step of the streams that a query reads."""
    steps = [int(r[0] or 0) for n in _read(case, union) for r in case.rows[n]]
    return min(steps, default=0), max(steps, default=-1)


def _run_live(
    case: cases.Case, job: QueryJob, random: Random, folder: Path, statics: Any
) -> tuple[list[dict[str, Any]], int]:
    """The changes of a live run, and the last timestamp that it finished."""
    begin = int(START.replace(tzinfo=UTC).timestamp()) * 1_000_000
    data: Any = {}
    for table in case.tables:
        columns = [name for name, _ in table.columns]
        rows = case.rows[table.name]
        if not table.stream:
            data[table.name] = (columns, [tuple(r) for r in rows])
            continue
        moved = [(*r[1:], begin + int(r[0] or 0) * STEP_US) for r in rows]
        data[table.name] = ([*columns, "ts"], moved)
    arriving = random_queries.Case(job.catalog, job.union, data, 9)
    return run_live(job, arriving, random, folder)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run_seed(seed, tmp_path / str(seed)) for seed in range(5))
    assert told["with answers"] > 2, told


@given(SEEDS)
@budget(0.1)
def test_solutions_joined_equal_rdflib(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case")))


@pytest.mark.parametrize(
    "text",
    [
        # what is behind OPTIONAL is joined with what it found
        "GRAPH ?t { ?x :n ?n } OPTIONAL { LATEST } GRAPH ?a { ?x :m ?v } FILTER(?a > NOW() - WEEK)",
        # a row of no window, beside the latest
        "GRAPH ?t { ?x :n ?n } LATEST",
        # what must be absent is compared with another part
        (
            "GRAPH ?t { ?x :n ?n } FILTER(?t > NOW() - WEEK) GRAPH ?u { ?x :p ?v } FILTER NOT "
            "EXISTS { GRAPH ?w { ?x :p ?o } FILTER(?w > ?u && ?o > ?n) }"
        ),
        # of a variable that the group does not bind
        "GRAPH ?t { ?x :n ?n } FILTER(?t > NOW() - WEEK) { LATEST FILTER(?v < ?n) }",
    ],
)
def test_what_is_not_of_parts_is_refused(text: str, tmp_path: Path) -> None:
    latest = "GRAPH ?u { ?x :p ?v } FILTER NOT EXISTS { GRAPH ?w { ?x :p ?o } FILTER(?w > ?u) }"
    text = text.replace("LATEST", latest).replace("WEEK", '"PT10M"^^xsd:dayTimeDuration')
    write_case(make_case(Random(0)), tmp_path)
    (tmp_path / "q.rq").write_text(f"{PREFIXES}SELECT * {{ {text} }}", encoding="utf-8")
    with pytest.raises(QueryError):
        Workspace(load_project(tmp_path, environ={})).compile("q")
