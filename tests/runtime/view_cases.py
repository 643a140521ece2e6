"""Live jobs over distinct views: rows of no key, two maps that make the same triples, and a static
relation that makes some of them always."""

import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.sources.read_source import BAD
from tests.sparql_counts.case import Case, Map, Query, Row, Table
from tests.sparql_counts.replay_case import prepare_job
from tests.sparql_counts.test_named_counts import S_ID, V_N, ask, make_case
from tests.sparql_counts.write_case import write_case

STEPS = 11
RANGES = (("id", 0, 3), ("n", 0, 3))
TABLES = (
    Table("s", (("id", "int"), ("n", "int"), ("a", "string")), stream=True, ranges=RANGES),
    Table("u", (("id", "int"), ("n", "int"), ("a", "string")), stream=True, ranges=RANGES),
    Table("r", (("id", "int"), ("n", "int"), ("a", "string")), stream=False, ranges=RANGES),
)
MAPS = tuple(Map(t.name, S_ID, ("A",), (V_N,)) for t in TABLES)
SOON = 'FILTER(?u > ?t && ?u - ?t <= "PT10M"^^xsd:dayTimeDuration)'
QUERIES = (
    ask("?x, ?n", "x v n"),
    ask("?x, COUNT(*) AS ?c, SUM(?n) AS ?d", "x v n", "x a A"),
    Query(
        ("?x", "?n", "?m"),
        tuple(
            replace(
                first,
                atoms=(*first.atoms, *(replace(a, time="u", object="?m") for a in first.atoms)),
                lines=(SOON,),
            )
            for first in ask("?x", "x v n").branches
        ),
    ),
)


def make_view_case(seed: int) -> Case:
    """A case of a seed: one of the queries, and rows of which many are equal."""
    random = Random(seed)
    case = make_case(MAPS, QUERIES[seed % len(QUERIES)], tables=TABLES)

    def draw() -> Row:
        return (random.choice((0, 1, 2, 3)), random.choice((1, 2, None)), "x")

    rows: dict[str, tuple[Row, ...]] = {"r": tuple(draw() for _ in range(2))}
    for name in "su":
        steps = sorted(random.randrange(STEPS) for _ in range(4 * STEPS))
        rows[name] = (*((step, *draw()) for step in steps), (STEPS, *draw()))
    return replace(case, rows=rows)


def choose_views(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """A case as a live job, and its rows in micro-batches, the streams out of step."""
    case = make_view_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        write_case(case, Path(folder))
        workspace = Workspace(load_project(Path(folder), environ={}))
        compiled = workspace.compile("q")
        assert any(view.distinct for view in compiled.union.views)
        job = prepare_job(workspace, compiled)
    assert not job.unbounded
    catalog = workspace.project.catalog
    statics = {"r": _make_table(catalog, "r", case.rows["r"])}
    random = Random(seed)
    left = {name: list(case.rows[name]) for name in "su"}
    batches = []
    while any(left.values()):
        batch = {}
        for name, rows in left.items():
            count = random.randint(0, 9)
            batch[name], left[name] = _make_table(catalog, name, rows[:count]), rows[count:]
        batches.append(batch)
    return make_live_job([job], catalog, statics, {}), batches


def _make_table(catalog: Catalog, name: str, rows: "list[Row] | tuple[Row, ...]") -> pa.Table:
    table = catalog.table(name)
    cells: dict[str, Any] = {}
    first = 0
    if isinstance(table, Stream):
        moments = [table.step_us * (_START + int(row[0] or 0)) for row in rows]
        cells[table.timestamp] = pa.array(moments, pa.int64())
        first = 1
    for place, column in enumerate(table.columns, first):
        cells[column.name] = pa.array([row[place] for row in rows], arrow_type(column.type))
    if isinstance(table, Stream):
        cells[BAD] = pa.nulls(len(rows), pa.string())
    return pa.table(cells)


_START = 1_577_836_800 // 300
"""2020-01-01 in steps."""
