"""What each pass of the rewriter is worth: joins, disjuncts and verdicts of the example without it.

    .venv/bin/python benchmarks/compile/rewrite_passes.py [--format text|json]

Every row leaves out one pass (PASSES in rewriter/passes/run_passes.py), the first none, the last
all. The checker removes some self-joins and contradictions itself, so a pass may change the SQL
and its cost but no verdict.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.passes.run_passes import pass_names

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "traffic"


@dataclass(frozen=True, slots=True)
class Row:
    """The example's queries without a pass: sums, and the verdicts that differ."""

    without: str
    joins: int
    disjuncts: int
    conditions: int
    seconds: float
    verdicts: dict[str, str]


def measure_passes() -> tuple[Row, ...]:
    """A row without nothing, one without each pass, and one without all."""
    project = load_project(EXAMPLE)
    full = Workspace(project)
    full.tbox, full.mappings  # noqa: B018 - read once, for all rows
    names = pass_names()
    rows: list[Row] = []
    normal: dict[str, str] = {}
    for label, skip in (("-", ()), *((n, (n,)) for n in names), ("all of them", names)):
        workspace = Workspace(project, skip=frozenset(skip))
        workspace.__dict__.update(tbox=full.tbox, mappings=full.mappings)
        start = time.perf_counter()
        compiled = [workspace.compile(name) for name in workspace.query_names()]
        seconds = time.perf_counter() - start
        tiers = {c.name: workspace.check(c).tier.value for c in compiled}
        normal = normal or tiers
        disjuncts = [d for c in compiled for d in c.union.disjuncts]
        rows.append(
            Row(
                without=label,
                joins=sum(len(d.occurrences) - 1 for d in disjuncts),
                disjuncts=len(disjuncts),
                conditions=sum(len(d.conditions) for d in disjuncts),
                seconds=round(seconds, 2),
                verdicts={n: t for n, t in tiers.items() if t != normal[n]},
            )
        )
    return tuple(rows)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    rows = measure_passes()
    if options.format == "json":
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return 0
    print("| without | joins | disjuncts | conditions | compile (s) | verdicts that change |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for row in rows:
        changed = "; ".join(f"{n}: {t}" for n, t in row.verdicts.items()) or "none"
        print(
            f"| {row.without} | {row.joins} | {row.disjuncts} | {row.conditions} | "
            f"{row.seconds} | {changed} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
