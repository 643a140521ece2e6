"""A project of another shape than the others: three streams of different units of time, a register
with keys that are texts, NULL in all of its columns and those of the streams, classes below others,
and a class and a property that nothing is mapped to. Its answers at each time, and rdflib's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import load_relations, make_job
from ontoweir.runtime.engine.configure_run import configure_run
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.in_process import replay_here
from tests.sparql_counts.ask_rdflib import Answers
from tests.sparql_counts.case import Case, Map, Query, Row, Table
from tests.sparql_counts.read_graphs import known_graphs
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_random_windows import ask_at_each, standing, step_of
from tests.sparql_counts.write_case import show_case, write_case

DEPOTS, PARCELS, PLATES = "ABCX", "pqrs", "kl"
_DEPOT = 'rr:template "http://e/d/{depot}"'
_CODE = 'rr:template "http://e/d/{code}"'
_PARCEL = 'rr:template "http://e/s/{parcel}"'
TABLES = (
    Table(
        "scan",
        (("parcel", "string"), ("depot", "string"), ("weight", "int"), ("kind", "string")),
        stream=True,
        keys=(("parcel",),),
        ranges=(("weight", 0, 3),),
    ),
    Table(
        "door",
        (("depot", "string"), ("temp", "int")),
        stream=True,
        unit="10 minutes",
        keys=(("depot",),),
        ranges=(("temp", 0, 3),),
    ),
    Table(
        "truck",
        (("plate", "string"), ("depot", "string"), ("load", "int")),
        stream=True,
        unit="15 minutes",
        ranges=(("load", 0, 3),),
    ),
    Table(
        "depots",
        (("code", "string"), ("city", "string"), ("cap", "int"), ("kind", "string")),
        stream=False,
        keys=(("code",),),
    ),
)
MAPS = (
    Map(
        "scan",
        _PARCEL,
        ("Scan",),
        (("at", _DEPOT), ("weight", 'rr:column "weight"'), ("kind", 'rr:column "kind"')),
    ),
    Map("SELECT parcel FROM scan WHERE kind = 'lost'", _PARCEL, ("LostScan",)),
    Map("SELECT parcel FROM scan WHERE kind = 'bad'", _PARCEL, ("BrokenScan",)),
    Map("door", _DEPOT, (), (("temp", 'rr:column "temp"'),)),
    Map(
        "truck",
        'rr:template "http://e/t/{plate}"',
        ("Truck",),
        (("in", _DEPOT), ("load", 'rr:column "load"')),
    ),
    Map("depots", _CODE, (), (("city", 'rr:column "city"'), ("cap", 'rr:column "cap"'))),
    Map("SELECT code FROM depots WHERE kind = 'cold'", _CODE, ("Cold",)),
    Map("SELECT code FROM depots WHERE kind = 'dry'", _CODE, ("Dry",)),
)
_CLASSES = ("Scan", "LostScan", "BrokenScan", "BadScan", "Truck", "Cold", "Dry", "Depot", "Ghost")
AXIOMS = (
    *(f":{name} a owl:Class ." for name in _CLASSES),
    *(f":{name} a owl:ObjectProperty ." for name in ("at", "in")),
    *(
        f":{name} a owl:DatatypeProperty ."
        for name in ("weight", "kind", "temp", "load", "city", "cap", "ghost")
    ),
    ":LostScan rdfs:subClassOf :BadScan . :BrokenScan rdfs:subClassOf :BadScan .",
    ":BadScan rdfs:subClassOf :Scan . :Cold rdfs:subClassOf :Depot . :Dry rdfs:subClassOf :Depot .",
)
_OF = {
    "scan": ("at", "weight", "kind", "Scan", "LostScan", "BrokenScan", "BadScan"),
    "door": ("temp",),
    "truck": ("in", "load", "Truck"),
}


def make_parcels(random: Random) -> Case:
    """The project, with rows that are drawn."""

    def seldom(value: Any, often: float = 0.2) -> Any:
        return None if random.random() < often else value

    rows: dict[str, list[Row]] = {"scan": [], "door": [], "truck": []}
    for step in range(12):
        for name in random.sample(PARCELS, k=random.choice([0, 1, 1, 2])):
            depot, weight = seldom(random.choice(DEPOTS), 0.1), seldom(random.randint(0, 3))
            rows["scan"].append(
                (step, name, depot, weight, seldom(random.choice(["lost", "bad", "ok"])))
            )
        for name in random.sample(DEPOTS, k=random.choice([0, 1, 2]) * (step % 2 == 0)):
            rows["door"].append((step, name, seldom(random.randint(0, 3))))
        for name in random.sample(PLATES, k=random.choice([0, 1, 1, 2]) * (step % 3 == 0)):
            load = seldom(random.randint(0, 3))
            rows["truck"].append((step, name, random.choice(DEPOTS), load))
    rows["depots"] = [
        (
            code,
            seldom(random.choice("uv")),
            seldom(random.randint(0, 4)),
            seldom(random.choice(["cold", "dry"])),
        )
        for code in "ABCE"
        if random.random() < 0.85
    ]
    made = {name: tuple(found) for name, found in rows.items()}
    return Case(TABLES, MAPS, Query(("?x",), ()), made, axioms=AXIOMS)


def write_parcels(case: Case, folder: Path) -> None:
    """Write the project: with the values that keys of the streams have."""
    write_case(case, folder)
    toml = folder / "ontoweir.toml"
    text = toml.read_text(encoding="utf-8")
    for name, values in (("depot", DEPOTS), ("parcel", PARCELS), ("plate", PLATES)):
        listed = ", ".join(f'"{v}"' for v in values)
        text = text.replace(
            f'{name} = "string"', f'{name} = {{ type = "string", enum = [{listed}] }}'
        )
    toml.write_text(text, encoding="utf-8")


def compile_text(text: str, folder: Path) -> tuple[Workspace, CompiledQuery]:
    """A query over the project of a folder."""
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, workspace.compile("q")


def compare_text(
    query: str,
    names: Sequence[str],
    case: Case,
    folder: Path,
    random: Random,
    streams: Mapping[str, Sequence[str]] = _OF,
) -> str:
    """What came of a query, whose answers are compared with rdflib's at every time.

    Args:
        query: without prefixes.
        names: of its columns.
        case: of the folder.
        folder: of the project.
        random: chooses how it is replayed.
        streams: what is mapped from each.
    """
    text = f"{PREFIXES}{query}"
    try:
        workspace, compiled = compile_text(text, folder)
        verdict = check_query(compiled.union, workspace.project.catalog, disprove=False)
    except QueryError as error:
        return f"refused: {error.what}"
    if verdict.plans is None:
        return f"{verdict.tier}"
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    statics = load_relations(workspace, [compiled], start_session)
    options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
    options |= {"ranges": random.choice([1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
    with pytest.MonkeyPatch.context() as patch:
        rows, summary = replay_here(patch, job, folder / "answers.parquet", **options)
    bound = bound_changes(verdict, workspace.project.catalog)
    assert "∞" not in bound.formula, query
    assert bound.rows is None or summary.state_rows_max <= bound.rows, (query, bound.formula)
    read = [n for n in configure_run([job], job.catalog).streams if n in case.rows]
    steps = [int(r[0] or 0) for n in (read or _list_named(query, streams)) for r in case.rows[n]]
    nothing = ("None",) * len(names)
    standing_groups = None if compiled.union.standing is None else compiled.union.standing.groups
    late = standing_groups is not None and not standing_groups.group
    groups = compiled.union.aggregation
    updates = job.emit is Emit.ANSWERS and groups is not None
    group = () if groups is None else groups.group
    for moment, wanted in ask_at_each(text, known_graphs(folder)):
        if min(steps, default=0) <= step_of(moment) <= max(steps, default=-1):
            known = rows if not updates else _list_current(rows, group, moment)
            if updates and not known and not group:
                continue  # updates begin with the first match
            found = standing(known, list(names), set(), moment)
            if late and not found:
                continue  # there is a row from the first one on that begins or ends something
            expected = _leave(wanted, len(names))
            found = Counter({row: often for row, often in found.items() if row != nothing})
            expected.pop(nothing, None)  # rdflib leaves out some of what shows no value
            assert found == expected, _tell(found, expected, moment, query, case)
    return f"{job.emit}: with answers" if rows else f"{job.emit}: without"


def _list_current(
    rows: Sequence[dict[str, Any]], group: Sequence[str], moment: datetime
) -> list[dict[str, Any]]:
    """Of updates the last row of each group."""
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["at"]):
        if row["at"] <= moment.replace(tzinfo=None):
            last[tuple(row[name] for name in group)] = row
    return list(last.values())


def _leave(wanted: Answers, count: int) -> Answers:
    """The answers without the number of matches that rdflib is asked for, too."""
    left: Answers = Counter()
    for row, often in wanted.items():
        left[row[:count]] += often
    return left


def _list_named(query: str, streams: Mapping[str, Sequence[str]]) -> list[str]:
    """The streams whose classes and properties a query names."""
    return [n for n, names in streams.items() if any(f":{name} " in f"{query} " for name in names)]


def _tell(found: Answers, wanted: Answers, moment: datetime, query: str, case: Case) -> str:
    return (
        f"at {moment}\ntoo many: {found - wanted}\nmissing: {wanted - found}\n{query}\n"
        f"{show_case(case)}"
    )
