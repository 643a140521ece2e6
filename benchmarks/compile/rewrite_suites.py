"""Time and size of the minimal UCQs of the REQUIEM suite, and compile times of the example.

    .venv/bin/python benchmarks/compile/rewrite_suites.py [--runs 3] [--format text|json]

The suite lies beside the project (../shared/suites/requiem). Times are the least of the runs, in
milliseconds; "load" is reading the ontology and saturating its hierarchy. The example's times are
those of rewriting, unfolding and optimising one query, and of deciding it; reading ontology and
mappings, once for all queries, is the first row.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.ucq.show_ucq import show_ucq

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT.parent / "shared" / "suites" / "requiem"
NAMES = ("V", "P1", "P5", "S", "U", "A")


def least(runs: int, work: Callable[[], Any]) -> float:
    """The least time of some runs, in milliseconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return round(1000 * min(times), 1)


def measure_suite(runs: int) -> list[dict[str, Any]]:
    """A row per ontology."""
    sys.path.insert(0, str(ROOT))
    from tests.rewriter.ucq.test_ucq_requiem import read_requiem

    rows = []
    for name in NAMES:
        files = [SUITE / f"{name}.owl"]
        load = least(runs, lambda files=files: load_ontology(files, warn=lambda _: None))
        tbox = load_ontology(files, warn=lambda _: None)
        queries = read_requiem(name, tbox)
        rows.append(
            {
                "ontology": name,
                "axioms": len(tbox.axioms),
                "load_ms": load,
                "sizes": [len(show_ucq(q, tbox)) for q in queries],
                "ms": [least(runs, lambda q=q, t=tbox: show_ucq(q, t)) for q in queries],
            }
        )
    return rows


def measure_example(runs: int) -> list[dict[str, Any]]:
    """A row for reading the project's files, and one per query."""
    project = load_project(ROOT / "examples" / "traffic")

    def read() -> None:
        workspace = Workspace(project)
        workspace.tbox, workspace.mappings  # noqa: B018 - read

    rows: list[dict[str, Any]] = [
        {"query": "(ontology and mappings)", "compile_ms": least(runs, read)}
    ]
    workspace = Workspace(project)
    for name in workspace.query_names():
        compile_ms = least(runs, lambda name=name: workspace.compile(name))
        compiled = workspace.compile(name)
        rows.append(
            {
                "query": name,
                "compile_ms": compile_ms,
                "check_ms": least(runs, lambda c=compiled: workspace.check(c)),
                "disjuncts": len(compiled.union.disjuncts),
                "joins": sum(len(d.occurrences) - 1 for d in compiled.union.disjuncts),
            }
        )
    return rows


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    if not SUITE.is_dir():
        print(f"the suite is not at {SUITE}", file=sys.stderr)
        return 2
    suite, example = measure_suite(options.runs), measure_example(options.runs)
    if options.format == "json":
        print(json.dumps({"suite": suite, "example": example}, indent=2))
        return 0
    print("| ontology | axioms | load (ms) | sizes of Q1-Q5 | ms of Q1-Q5 |")
    print("| --- | ---: | ---: | --- | --- |")
    for row in suite:
        sizes, times = (", ".join(map(str, row[k])) for k in ("sizes", "ms"))
        print(f"| {row['ontology']} | {row['axioms']} | {row['load_ms']} | {sizes} | {times} |")
    print("\n| query | compile (ms) | check (ms) | disjuncts | joins |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in example:
        cells = (row.get(k, "") for k in ("query", "compile_ms", "check_ms", "disjuncts", "joins"))
        print(f"| {' | '.join(map(str, cells))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
