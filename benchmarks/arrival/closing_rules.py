"""What rules on how rows come save: state over the tuples that have come, in the shape of the
experiments of Babu, Srivastava and Widom (TODS 2004, Figures 8 to 16 and Table I).

    python benchmarks/arrival/closing_rules.py [--scale 10] [--draw docs/closing-rules.svg]

Streams are made from a seed as section 3.5 of the paper says: five tuples of S1 come for each of S2
and S3, a tuple of S2 joins five of S1, one of S1 joins one, filters keep half, and windows are of
50,000 tuples (all divided by `--scale`, as the ks are). Each query runs live, in this process, by
batches; told are the rows of its synopses. `SWJ` is the query with its windows and no rule.

- Figure 8: RIDS(k), a lag of so many rows with `matches = "one"`, for k of 0 to 20,000.
- Figure 9: k changes; the k that is observed, and the answers lost with the k in use.
- Figures 10, 12: CA(k) and OAP(k), `clustered` and `ordered` by rows: the open groups of S1.
- Figures 11, 13: the same with `adapt = true`, as k changes; the groups that are closed too early.
- Figure 14: OAC(k), `ordered` of the child, which drops nothing here: the rows of SWJ.
- Figures 15, 16: a lag of the child, one of the parent, and both: never more than the best alone.
- Table I: microseconds of CPU for a tuple, with a rule and without it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pyarrow as pa
from draw_lines import Panel, draw_lines

from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.measure_limits import measure_limits
from ontoweir.runtime.sources.read_source import BAD

SECOND = 1_000_000
ROUND = 7
"""Steps of a round: five tuples of S1, one of S2, one of S3."""
WINDOW = 50_000
KS = (0, 5_000, 10_000, 20_000)
BATCHES = 40

CATALOG = """
[streams.s1]
source = {{ format = "parquet", path = "s1" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 1
{s1}
columns = {{ a = "int", b = "int" }}
[streams.s2]
source = {{ format = "parquet", path = "s2" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 1
{s2}
columns = {{ a = "int", good = {{ type = "int", min = 0, max = 1 }} }}
[streams.s3]
source = {{ format = "parquet", path = "s3" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 1
{s3}
columns = {{ b = "int", good = {{ type = "int", min = 0, max = 1 }} }}
"""
WINDOWS = (
    "{child}.ts <= s1.ts + INTERVAL '{w1}' SECOND AND s1.ts <= {child}.ts + INTERVAL '{w2}' SECOND"
)
TWO = "SELECT s1.a, s1.b FROM s1 JOIN s2 ON s1.a = s2.a WHERE s2.good = 1 AND {s2}"
THREE = (
    "SELECT s1.a, s1.b FROM s1 JOIN s2 ON s1.a = s2.a JOIN s3 ON s1.b = s3.b "
    "WHERE s2.good = 1 AND s3.good = 1 AND {s2} AND {s3}"
)
GROUPS = "SELECT a, COUNT(*) AS n FROM s1 WHERE a IS NOT NULL GROUP BY a"

Tables = dict[str, tuple[Array, dict[str, Array]]]
"""By stream its times (steps) and columns."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a run: after each batch how many tuples have come and rows are kept; by batch the k that
    is observed, that in use, and the answers, counted and by their first column; CPU seconds."""

    tuples: list[int]
    rows: list[int]
    observed: list[float]
    used: list[float]
    answers: list[int]
    found: list[list[int]]
    seconds: float


def make_streams(rounds: int, distance: Callable[[Array], Array], seed: int = 1) -> Tables:
    """S1, S2 and S3, so many rounds of them.

    Args:
        rounds: one tuple of S2 and S3 each, and five of S1.
        distance: how many tuples of S2 (S3) come after one of S1, up to the one that joins it, by
            the round of S1's (0: it has come before).
        seed: of what is drawn.
    """
    draw = np.random.default_rng(seed)
    place = np.arange(rounds)
    times = (place[:, None] * ROUND + np.arange(5)).ravel()
    of = np.repeat(place, 5)
    children = []
    for _ in range(2):
        far = _draw(draw, distance(of))
        before = draw.integers(0, 20, len(of))
        children.append(np.where(far > 0, of - 1 + far, of - 1 - before))
    tables: Tables = {"s1": (times, {"a": children[0], "b": children[1]})}
    for offset, name, key in ((5, "s2", "a"), (6, "s3", "b")):
        good = draw.integers(0, 2, rounds)
        tables[name] = (place * ROUND + offset, {key: place, "good": good})
    return tables


def _draw(draw: np.random.Generator, most: Array) -> Array:
    """Distances from 0 to those, all as likely."""
    return np.floor(draw.random(len(most)) * (most + 1)).astype(np.int64)


def run(sql: str, rules: dict[str, str], tables: Tables, *, unbounded: bool = False) -> Measured:
    """Run a query over streams, live, in batches."""
    with TemporaryDirectory() as folder:
        text = CATALOG.format(**{"s1": "", "s2": "", "s3": "", **rules})
        Path(folder, "ontoweir.toml").write_text(text, encoding="utf-8")
        catalog = load_project(Path(folder), environ={}).catalog
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.bound is None:
        sys.exit(f"not bounded: {sql}")
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    query = QueryJob("q", verdict.union, verdict.plans, catalog, verdict.bound.rows, parts=parts)
    job = make_live_job([query], catalog, {}, {})
    read = {h.stream.name for h in job.histories}
    made = Measured([], [], [], [], [], [], 0.0)
    state, count = begin_live(job), 0
    begun = process_time()
    for batch in _cut({n: tables[n] for n in read}):
        outcome = advance_live(job, state, batch, 0.0)
        state = outcome.state
        count += sum(rows.num_rows for rows in batch.values())
        (held,) = state.queries
        assert isinstance(held, ExecutionState)
        made.tuples.append(count)
        made.rows.append(sum(k.rows for k in held.kernels) + held.groups.rows)
        made.answers.append(_count(outcome.answers[0]))
        made.found.append(outcome.answers[0].column(0).to_pylist())
        limits = measure_limits(job, state)
        made.observed.append(max((limit["observed"] for limit in limits), default=0.0))
        made.used.append(max((limit["in_use"] for limit in limits), default=0.0))
    return replace(made, seconds=process_time() - begun)


def _count(answers: pa.Table) -> int:
    if "multiplicity" in answers.column_names:
        return int(np.sum(answers.column("multiplicity").to_numpy()))
    return answers.num_rows


def _cut(tables: Tables) -> Iterator[dict[str, pa.Table]]:
    """Batches of all streams, by time."""
    last = max(int(times[-1]) for times, _ in tables.values()) + 1
    for number in range(BATCHES):
        begin, end = last * number // BATCHES, last * (number + 1) // BATCHES
        batch = {}
        for name, (times, columns) in tables.items():
            rows = slice(*np.searchsorted(times, [begin, end]))
            cells = {n: pa.array(c[rows]) for n, c in columns.items()}
            cells["ts"] = pa.array(times[rows] * SECOND)
            cells[BAD] = pa.nulls(len(cells["ts"]), pa.string())
            batch[name] = pa.table(cells)
        yield batch


def lag(late: str, early: str, column: str, rows: int, every: int, *, one: bool = True) -> str:
    """The declaration that tuples of a stream come at most so many after those they join."""
    said = ', matches = "one"' if one else ""
    return (
        f'lags = [{{ behind = "{early}", columns = ["{column}"], to = ["{column}"], '
        f'rows = {rows}, every = "{every} seconds"{said} }}]'
    )


class Experiments:
    """The experiments, at a scale."""

    def __init__(self, scale: int) -> None:
        self.scale = scale
        self.window = WINDOW // scale
        self.rounds = 2 * self.window
        w1, w2 = self.window * ROUND // 5, self.window * ROUND
        windows = {c: WINDOWS.format(child=c, w1=w1, w2=w2) for c in ("s2", "s3")}
        self.two, self.three = TWO.format(**windows), THREE.format(**windows)
        self.panels: list[Panel] = []

    def _add(self, title: str, up: str, lines: dict[str, list[tuple[float, float]]]) -> None:
        self.panels.append(Panel(title, "tuples", up, lines))

    def show_memory(self) -> None:
        """Figure 8 (and 14): RIDS(k) of both joins; and Table I."""
        lines, costs = {}, []
        for k in (k // self.scale for k in KS):
            tables = make_streams(self.rounds, lambda of, k=k: np.full(len(of), k))
            rules = {"s2": lag("s2", "s1", "a", k, ROUND), "s3": lag("s3", "s1", "b", k, ROUND)}
            with_it, plain = run(self.three, rules, tables), run(self.three, {}, tables)
            if with_it.answers != plain.answers:
                sys.exit(f"RIDS({k}): not the answers of the plain plan")
            lines[f"RIDS({k:,})"] = list(zip(map(float, with_it.tuples), with_it.rows, strict=True))
            costs.append((k, with_it, plain))
        lines["SWJ"] = list(zip(map(float, plain.tuples), plain.rows, strict=True))
        self._add("Figure 8: RIDS(k) on S1 → S2, S1 → S3", "rows kept", lines)
        for k, mine, plain in costs:
            each = 1e6 / mine.tuples[-1]
            print(
                f"RIDS({k:,}): {mine.rows[-1]:,} rows kept, SWJ {plain.rows[-1]:,} = "
                f"{mine.rows[-1] / plain.rows[-1]:.2f}; {mine.seconds * each:.2f} / "
                f"{plain.seconds * each:.2f} µs of CPU a tuple",
                flush=True,
            )

    def follow_changes(self) -> None:
        """Figure 9: a k that changes, watched; and what is lost with the k in use."""
        most = 2_000 // self.scale
        shape = np.interp(
            np.linspace(0, 10, self.rounds),
            [0, 1.5, 3.5, 4.5, 6.5, 6.6, 8, 8.1, 10],
            [0.4, 0.4, 1.0, 0.3, 0.3, 1.3, 1.3, 0.3, 0.3],
        )
        actual = (shape * most).astype(np.int64)
        tables = make_streams(self.rounds, lambda of: actual[of])
        rules = {"s2": lag("s2", "s1", "a", most, ROUND)}
        watched, plain = run(self.two, rules, tables), run(self.two, {}, tables)
        at = [min(n * self.rounds // BATCHES, self.rounds - 1) for n in range(1, BATCHES + 1)]
        place = [float(n) for n in watched.tuples]
        seen = [s / ROUND for s in watched.observed]
        self._add(
            "Figure 9: a k that changes, and what is observed",
            "k, in tuples of S2",
            {
                "actual": list(zip(place, [float(actual[n]) for n in at], strict=True)),
                "observed": list(zip(place, seen, strict=True)),
                "in use": [(place[0], float(most)), (place[-1], float(most))],
            },
        )
        pairs = zip(watched.answers, plain.answers, strict=True)
        lost = [100 * (b - a) / b if b else 0.0 for a, b in pairs]
        self._add(
            "Figure 9: false negatives, with the k in use",
            "% of the answers of a batch",
            {"lost": list(zip(place, lost, strict=True))},
        )
        kept = [
            actual[max(n - 2 * most - self.rounds // BATCHES, 0) : n + 1].max() <= most for n in at
        ]
        within = max(part for part, good in zip(lost, kept, strict=True) if good)
        print(
            f"k from {actual.min():,} to {actual.max():,}, {most:,} in use: at most "
            f"{max(lost):.1f} % of a batch's answers lost; while k is not greater, {within:.1f} %",
            flush=True,
        )

    def show_groups(self) -> None:
        """Figures 10 and 12: CA(k) and OAP(k), for groups of S1."""
        draw = np.random.default_rng(3)
        rows = 5 * self.rounds
        for figure, rule in ((10, "clustered"), (12, "ordered")):
            lines = {}
            for k in (k // self.scale for k in KS):
                shift = draw.integers(0, k // 2 + 1, rows)
                order = np.argsort(np.arange(rows) + shift, kind="stable")
                values = (np.arange(rows) // 5)[order]
                tables: Tables = {"s1": (np.arange(rows), {"a": values, "b": values})}
                said = f'columns = ["a"], rows = {k + 5}'
                if rule == "ordered":
                    said = f'column = "a", rows = {k + 5}'
                found = run(GROUPS, {"s1": f"{rule} = [{{ {said} }}]"}, tables)
                again = Counter(values.tolist())
                if sum(found.answers) > len(again):
                    sys.exit(f"{rule} by {k}: a group was closed too early")
                pairs = zip(map(float, found.tuples), found.rows, strict=True)
                lines[f"k = {k:,}"] = list(pairs)
                print(f"{rule}, k = {k:,}: {max(found.rows):,} rows kept at most", flush=True)
            name = "CA(k)" if rule == "clustered" else "OAP(k)"
            self._add(f"Figure {figure}: {name}, groups by S1.A", "rows kept", lines)

    def follow_groups(self) -> None:
        """Figures 11 and 13: CA(k) and OAP(k) whose k changes, and that adapt to it."""
        draw = np.random.default_rng(4)
        rows, most = 5 * self.rounds, 10_000 // self.scale
        shape = np.interp(
            np.linspace(0, 10, rows),
            [0, 1.5, 3, 4.5, 6.5, 6.6, 8, 8.1, 10],
            [0.4, 0.4, 0.9, 0.2, 0.2, 0.9, 0.9, 0.2, 0.2],
        )
        actual = (shape * most).astype(np.int64)
        order = np.argsort(np.arange(rows) + _draw(draw, actual), kind="stable")
        values = (np.arange(rows) // 5)[order]
        tables: Tables = {"s1": (np.arange(rows), {"a": values, "b": values})}
        for figure, rule, told in ((11, "clustered", "columns = ["), (13, "ordered", "column = ")):
            named = f'{told}"a"{"]" if rule == "clustered" else ""}'
            adapts = f"rows = {most + 5}, adapt = true, floor = 5"
            found = run(GROUPS, {"s1": f"{rule} = [{{ {named}, {adapts} }}]"}, tables)
            known: set[int] = set()
            lost = []
            for batch in found.found:
                again = len(batch) - len(set(batch) - known)
                known.update(batch)
                lost.append(100 * again / max(len(batch), 1))
            place = [float(n) for n in found.tuples]
            lines = {
                "actual": [(n, float(actual[min(int(n), rows) - 1])) for n in place],
                "observed": list(zip(place, found.observed, strict=True)),
                "in use": list(zip(place, found.used, strict=True)),
            }
            name = "CA(k)" if rule == "clustered" else "OAP(k)"
            self._add(f"Figure {figure}: {name} that adapts to a k that changes", "k, rows", lines)
            self._add(
                f"Figure {figure}: groups closed too early",
                "% of the groups of a batch",
                {"closed too early": list(zip(place, lost, strict=True))},
            )
            early = sum(map(len, found.found)) - len(known)
            print(
                f"{rule} that adapts, k from {actual.min():,} to {actual.max():,} of {most:,}: "
                f"{min(found.used):,.0f} to {max(found.used):,.0f} in use; {early:,} of "
                f"{len(known):,} groups closed too early, at most {max(lost):.1f} % of a batch",
                flush=True,
            )

    def order_children(self) -> None:
        """Figure 14: OAC(k) on S2.A, `ordered` of the child of a join."""
        lines = {}
        for k in (k // self.scale for k in KS):
            tables = make_streams(self.rounds, lambda of: np.full(len(of), 0))
            times, columns = tables["s2"]
            shift = np.random.default_rng(5).integers(0, k + 1, len(times))
            order = np.argsort(np.arange(len(times)) + shift, kind="stable")
            tables["s2"] = (times, {name: cells[order] for name, cells in columns.items()})
            rules = {"s2": f'ordered = [{{ column = "a", rows = {k + 1} }}]'}
            mine, plain = run(self.two, rules, tables), run(self.two, {}, tables)
            if (mine.answers, mine.rows) != (plain.answers, plain.rows):
                sys.exit(f"OAC({k:,}): not the answers and rows of the plain plan")
            lines[f"OAC({k:,})"] = list(zip(map(float, mine.tuples), mine.rows, strict=True))
            print(f"OAC({k:,}): {mine.rows[-1]:,} rows kept, as without it", flush=True)
        self._add("Figure 14: OAC(k) on S2.A, as without it (SWJ)", "rows kept", lines)

    def combine(self) -> None:
        """Figures 15 and 16: rules together."""
        lines: dict[str, list[tuple[float, float]]] = {"child": [], "parent": [], "both": []}
        for k in (k // self.scale for k in (500, 1_000, 2_000, 5_000, 10_000, 20_000)):
            tables = make_streams(self.rounds, lambda of, k=k: np.full(len(of), k))
            child = {"s2": lag("s2", "s1", "a", k, ROUND)}
            parent = {"s1": lag("s1", "s2", "a", 5_000 // self.scale, 3, one=False)}
            ways = {"child": child, "parent": parent, "both": {**child, **parent}}
            found = {name: run(self.two, rules, tables) for name, rules in ways.items()}
            if len({tuple(one.answers) for one in found.values()}) > 1:
                sys.exit(f"k = {k}: rules change the answers")
            for name, one in found.items():
                lines[name].append((float(k), float(one.rows[-1])))
            rows = (found[name].rows for name in ("both", "child", "parent"))
            if any(both > min(alone) for both, *alone in zip(*rows, strict=True)):
                sys.exit(f"k = {k}: both rules together keep more than one alone")
            shown = ", ".join(f"{name} {one.rows[-1]:,}" for name, one in found.items())
            print(f"rules together, k = {k:,}: {shown} rows kept", flush=True)
        title = "Figures 15, 16: rules together"
        self.panels.append(Panel(title, "k of the child's", "rows kept at the end", lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scale", type=int, default=10, help="windows and ks are divided by it")
    parser.add_argument("--draw", type=Path, help="write the plots there, as SVG")
    options = parser.parse_args(arguments)
    experiments = Experiments(options.scale)
    experiments.show_memory()
    experiments.follow_changes()
    experiments.show_groups()
    experiments.follow_groups()
    experiments.order_children()
    experiments.combine()
    if options.draw is not None:
        draw_lines(experiments.panels, options.draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())
