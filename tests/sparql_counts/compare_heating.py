"""Answers over the project of heating.py, at each time, and rdflib's."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import load_relations, make_job
from ontoweir.runtime.engine.configure_run import configure_run
from ontoweir.runtime.spark.start_session import start_session
from tests.runtime.in_process import replay_here
from tests.sparql_counts.ask_rdflib import Answers, _seconds, ask_rdflib, translate_query
from tests.sparql_counts.heating import COLUMNS, STREAMS, UNITS, Rows, write_rows
from tests.sparql_counts.parcels import compile_text
from tests.sparql_counts.read_graphs import known_graphs
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_random_windows import standing

_BUCKET = re.compile(r"ow:tumble\((\?\w+), (\"[^\"]*\"\^\^xsd:dayTimeDuration)\)")
_LONG = re.compile(r"-?\d*\.\d{9,}")
LAST = datetime(2020, 1, 12)
_LAST: dict[str, tuple[Any, ...]] = {
    "flow": ("m", None, None, None),
    "valve": ("a", "1", 1, None),
    "temp": (None, "1", "in", None, None),
    "tariff": ("X", None, None),
    "bill": ("m", None, None, None),
}
_LATER = ("EXISTS", "OPTIONAL", "MINUS")


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a query: `what` in a word, and its reason, bound, or answers."""

    what: str
    more: str = ""


def compare_heating(
    query: str, names: Sequence[str], rows: Rows, folder: Path, random: Random
) -> Told:
    """Compare a query's answers with rdflib's.

    Args:
        query: without prefixes.
        names: of its columns.
        rows: of the folder.
        folder: of the project.
        random: chooses how it is replayed.

    Returns:
        "refused", a tier that is not bounded, or "answered" or "nothing".
    """
    text = f"{PREFIXES}{query}"
    try:
        workspace, compiled = compile_text(text, folder)
        verdict = check_query(compiled.union, workspace.project.catalog, disprove=False)
    except QueryError as error:
        return Told("refused", f"{error.what} | {error.why} | {error.fix}")
    if verdict.plans is None:
        return Told(str(verdict.tier))
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    statics = load_relations(workspace, [compiled], start_session)
    options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
    options |= {"ranges": random.choice([1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
    groups = compiled.union.aggregation
    updates = job.emit is Emit.ANSWERS and groups is not None
    waits = job.emit is Emit.ANSWERS and any(word in text for word in _LATER)
    whole = "ow:" in query or waits
    write_rows(_add_last(rows) if whole else rows, folder)
    with pytest.MonkeyPatch.context() as patch:
        found, summary = replay_here(patch, job, folder / "answers.parquet", **options)
    assert summary.rejected_total == 0, summary.rejected
    bound = bound_changes(verdict, workspace.project.catalog)
    assert bound.rows is None or summary.state_rows_max <= bound.rows, (query, bound.formula)
    write_rows(rows, folder)
    standing_groups = None if compiled.union.standing is None else compiled.union.standing.groups
    late = standing_groups is not None and not standing_groups.group
    read = [n for n in configure_run([job], job.catalog).streams if n in UNITS]
    read = read or [n for n, named in STREAMS.items() if any(f":{name} " in text for name in named)]
    times = [row[0] for name in read for row in rows.of[name]]
    wanted = list(
        ask_rdflib(translate_query(write_buckets(text)), known_graphs(folder, computed=True))
    )
    for moment, answers in wanted[-1:] if whole else wanted:
        if not whole and not (times and min(times) <= moment <= max(times)):
            continue
        last = LAST - timedelta(days=1) if whole else moment.replace(tzinfo=None)
        known = _list_current(found, groups.group, last) if updates and groups else found
        if updates and not known and groups and not groups.group:
            continue  # updates begin with the first match
        here = _round(standing(_count_times(known), list(names), set(), last), names)
        expected = _round(answers, names)
        if late and not here:
            continue  # there is a row from the first one on that begins or ends something
        nothing = ("None",) * len(names)
        here.pop(nothing, None)
        expected.pop(nothing, None)  # rdflib leaves out some of what shows no value
        assert here == expected, _tell(here, expected, moment, query, rows)
    return Told("answered" if found else "nothing", f"{job.emit} {bound.formula}")


def _add_last(rows: Rows) -> Rows:
    """Rows with one more of each stream, long after: then all that waits is final."""
    made = {
        name: [*found, (LAST, *_LAST[name])] if name in UNITS else found
        for name, found in rows.of.items()
    }
    return Rows(made)


def list_columns(query: str) -> list[str]:
    """The columns that a SELECT shows."""
    head, depth, names, before = query[: query.index("{")], 0, list[str](), ""
    for word in re.findall(r"[()]|\?\w+|[^\s()?]+", head):
        depth += (word == "(") - (word == ")")
        if word.startswith("?") and (depth == 0 or before == "AS"):
            names.append(word[1:])
        before = word
    return names


def write_buckets(text: str) -> str:
    """A query with times as numbers, whose buckets are computed."""
    return _BUCKET.sub(r"(FLOOR(\1 / \2) * \2)", text)


def _count_times(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose values that are times are numbers of seconds."""
    return [
        {
            name: _seconds(value)
            if isinstance(value, datetime) and name not in ("at", "until")
            else value
            for name, value in row.items()
        }
        for row in rows
    ]


def _round(answers: Answers, names: Sequence[str]) -> Answers:
    """The columns that are asked for; of long numbers, ten digits: rdflib divides as decimals."""
    made: Answers = Counter()
    for row, often in answers.items():
        cells = (
            format(Decimal(f"{float(c):.10g}").normalize(), "f") if _LONG.fullmatch(c) else c
            for c in row[: len(names)]
        )
        made[tuple(cells)] += often
    return made


def _list_current(
    rows: Sequence[dict[str, Any]], group: Sequence[str], moment: datetime
) -> list[dict[str, Any]]:
    """Of updates the last row of each group."""
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["at"]):
        if row["at"] <= moment:
            last[tuple(row[name] for name in group)] = row
    return list(last.values())


def _tell(found: Answers, wanted: Answers, moment: datetime, query: str, rows: Rows) -> str:
    lines = [f"at {moment}", f"too many: {found - wanted}", f"missing: {wanted - found}", query]
    for name, columns in COLUMNS.items():
        lines.append(f"## {name} {columns}")
        lines += ["  ".join(map(str, row)) for row in rows.of[name]]
    return "\n".join(lines)
