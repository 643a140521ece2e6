"""Counterexamples against SPARQL's answers: after some suffix, each subset of the optional tuples
brings answers that no other subset brings, as rdflib has them."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import settings

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import WitnessRow
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Case
from tests.sparql_counts.random_cases import TASTE, random_case
from tests.sparql_counts.random_tables import Taste
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.write_case import write_case, write_query

CASES = settings().max_examples * 2 // 3
SIZE = 3
UNBOUNDED = Taste(plain=True, unbounded=True)
"""Of a quarter of these cases a witness is over views, and found; of others, of one in sixty."""


@pytest.mark.parametrize("apart", [1, 12])
def test_witnesses_tell_subsets_apart(
    apart: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`apart`: over views of stars, however few their matches are; and without these."""
    monkeypatch.setattr(match_stars, "MAX_APART", apart)
    confirmed = 0
    for seed in range(apart * CASES, (apart + 1) * CASES):
        case = random_case(seed, UNBOUNDED if seed % 4 else TASTE)
        if not case.query.group and not any(" " in name for name in case.query.head):
            confirmed += _confirm(case, tmp_path / str(seed))
    assert confirmed > CASES / 10


def _confirm(case: Case, folder: Path) -> bool:
    """Whether a case has a witness; that it is one is asserted."""
    folder.mkdir()
    write_case(case, folder)
    text = write_query(case.query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}), repair_time_limit=0.01)
    try:
        compiled = workspace.compile("q")
        if not compiled.union.views or workspace.check(compiled).tier is not Tier.UNBOUNDED:
            return False
        witness = workspace.find_witness(compiled, SIZE)
    except QueryError:
        return False
    if witness is None:
        return False
    catalog = workspace.project.catalog
    query = translate_query(text)

    def answer(rows: Sequence[WitnessRow]) -> Answers:
        _write(rows, catalog, folder)
        graphs = Project(folder).read_graphs(())
        moments = [answers for _, answers in ask_rdflib(query, graphs)]
        return moments[-1] if moments else Counter()

    seen: dict[tuple[frozenset[tuple[object, int]], ...], tuple[bool, ...]] = {}
    for chosen in product((False, True), repeat=witness.size):
        optional = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        before = [*witness.fixed, *optional]
        known = answer(before)
        brought = tuple(
            frozenset((answer([*before, *suffix]) - known).items()) for suffix in witness.suffixes
        )
        assert brought not in seen, f"{folder}: {chosen} and {seen[brought]} bring the same"
        seen[brought] = chosen
    return True


def _write(rows: Iterable[WitnessRow], catalog: Catalog, folder: Path) -> None:
    by_table: dict[str, list[WitnessRow]] = {}
    for row in rows:
        by_table.setdefault(row.table, []).append(row)
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        columns = [c.name for c in table.columns]
        times = [table.timestamp] if isinstance(table, Stream) else []
        with (folder / f"{table.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*times, *columns])
            for row in sorted(by_table.get(table.name, []), key=lambda r: r.step or 0):
                values = dict(row.values)
                cells = ["" if values.get(c) is None else values[c] for c in columns]
                writer.writerow(
                    [*([_show(row, table)] if isinstance(table, Stream) else []), *cells]
                )


def _show(row: WitnessRow, stream: Stream) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
        microseconds=(row.step or 0) * stream.step_us
    )
    return moment.strftime("%Y-%m-%d %H:%M:%S")
