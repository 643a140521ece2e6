"""The random tests of times, windows, buckets and composed queries, at length:
`python -m tests.oracle.run_seeds FIRST LAST [KIND ...] [--tuples N]`.

Each seed is one query over random tables, of every kind. A difference is printed with its seed; the
last lines count the queries by kind and outcome.
"""

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from types import ModuleType

from ontoweir.errors import QueryError
from tests.oracle import (
    test_absence,
    test_beside_latest,
    test_bucket_joins,
    test_bucket_shapes,
    test_buckets,
    test_case_witnesses,
    test_delays,
    test_event_times,
    test_expressions_in_queries,
    test_having,
    test_histograms,
    test_inner_distinct,
    test_keyed_groups,
    test_latest,
    test_modes,
    test_nested_absence,
    test_nested_latest,
    test_odd_shapes,
    test_outer_joins,
    test_several_rows,
    test_sliding_groups,
    test_sql_nulls,
    test_stacked_queries,
    test_standing,
    test_subqueries,
    test_sums_of_doubles,
    test_ties,
    test_units,
    test_variances,
    test_versions,
    test_window_differences,
    test_windows,
    test_windows_beside,
    test_witness_against_oracle,
    test_witness_beside,
    test_witness_preceding,
    test_witness_shown,
    test_witness_standing,
)
from tests.oracle.budget import set_tuples
from tests.sparql_counts import (
    random_comparisons,
    random_expressions,
    test_inner_sets,
    test_random_absence,
    test_random_buckets,
    test_random_outside,
    test_random_windows,
    test_stacked_selects,
)
from tests.sparql_counts import (
    test_several_rows as test_several_terms,
)
from tests.sparql_counts.case import Case
from tests.sparql_counts.compare_answers import Difference, Equal, compare_case

_MODULES = (
    test_absence,
    test_standing,
    test_window_differences,
    test_windows_beside,
    test_nested_absence,
    test_versions,
    test_latest,
    test_outer_joins,
    test_bucket_shapes,
    test_buckets,
    test_expressions_in_queries,
    test_having,
    test_inner_distinct,
    test_keyed_groups,
    test_sliding_groups,
    test_sql_nulls,
    test_stacked_queries,
    test_subqueries,
    test_sums_of_doubles,
    test_units,
    test_windows,
    test_bucket_joins,
    test_variances,
    test_histograms,
    test_modes,
    test_ties,
)


def _in_folder(run: Callable[[int, Path], Counter[str]], seed: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        told = run(seed, Path(folder, "case"))
    return ", ".join(f"{kind} {count}" if count > 1 else kind for kind, count in told.items())


def _compare(make: Callable[[Random], Case], seed: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        outcome = compare_case(make(Random(seed)), Path(folder, "case"))
    assert not isinstance(outcome, Difference), str(outcome)
    answers = isinstance(outcome, Equal) and bool(outcome.answers)
    return f"{type(outcome).__name__}{' with answers' if answers else ''}"


KINDS: dict[str, Callable[[int], object]] = {
    "absence": test_absence.check,
    "nested-absence": test_nested_absence.check,
    "outer-joins": test_outer_joins.check,
    "versions": test_versions.check,
    "latest": test_latest.check,
    "latest-beside": test_beside_latest.check,
    "latest-nested": test_nested_latest.check,
    "windows-beside": test_windows_beside.check,
    "window-differences": test_window_differences.check,
    "ties": test_ties.check,
    "modes": test_modes.check,
    "histograms": test_histograms.check,
    "event-times": test_event_times.check_here,
    "standing": test_standing.check,
    "standing-groups": test_standing.check_groups,
    "times": partial(test_windows.check, windows=False),
    "windows": partial(test_windows.check, windows=True),
    "steps": partial(test_windows.check, windows=True, steps=True),
    "windows-computed": partial(test_windows.check, windows=True, steps=True, computed=True),
    "counterexamples": test_witness_against_oracle.check,
    "counterexamples-cases": test_case_witnesses.check,
    "counterexamples-preceding": test_witness_preceding.check,
    "counterexamples-standing": test_witness_standing.check,
    "counterexamples-odd": test_odd_shapes.check_wide,
    "counterexamples-beside": test_witness_beside.check,
    "counterexamples-shown": test_witness_shown.check,
    "delays": test_delays.check,
    "units": lambda seed: test_units.check(seed, windows=seed % 2 == 0),
    "sliding": test_sliding_groups.check,
    "sliding-one-row": test_sliding_groups.check_without_groups,
    "buckets": test_buckets.check,
    "bucket-shapes": test_bucket_shapes.check,
    "stacked": test_stacked_queries.check,
    "several-rows": test_several_rows.check,
    "nested-rows": test_subqueries.check_rows,
    "nested-sets": test_inner_distinct.check,
    "nested-groups": test_subqueries.check_groups,
    "bucket-joins": test_bucket_joins.check,
    "variances": test_variances.check,
    "having": test_having.check_running,
    "having-buckets": test_having.check_buckets,
    "expressions": test_expressions_in_queries.check,
    "doubles": test_sums_of_doubles.check,
    "groups": test_sql_nulls.check,
    "keyed-groups": test_keyed_groups.check,
    "sparql-windows": partial(_in_folder, test_random_windows.run_seed),
    "sparql-sliding": partial(_in_folder, partial(test_random_windows.run_seed, grouped=True)),
    "sparql-buckets": partial(_in_folder, test_random_buckets.run_seed),
    "sparql-absence": partial(_in_folder, test_random_absence.compare),
    "sparql-stacked": partial(_in_folder, test_stacked_selects.run_seed),
    "sparql-several-rows": partial(_in_folder, test_several_terms.run_seed),
    "sparql-sets": partial(_in_folder, test_inner_sets.run_seed),
    "sparql-outside": partial(_in_folder, test_random_outside.run_seed),
    "sparql-comparisons": partial(_compare, random_comparisons.make_case),
    "sparql-expressions": partial(_compare, random_expressions.make_case),
}


def run_seed(kind: str, seed: int) -> tuple[str, str | None]:
    """One query: its outcome, and what differs."""
    events: list[str] = []
    modules: list[ModuleType] = [m for m in _MODULES if hasattr(m, "event")]
    kept = [m.event for m in modules]
    for module in modules:
        module.event = events.append  # type: ignore[attr-defined]
    try:
        outcome = KINDS[kind](seed)
    except QueryError:
        return "refused", None
    except Exception:
        return "different", f"{kind} {seed}: {traceback.format_exc()}"
    finally:
        for module, event in zip(modules, kept, strict=True):
            module.event = event  # type: ignore[attr-defined]
    if isinstance(outcome, str):
        return outcome, None
    return events[0] if events else "compared", None


def main() -> int:
    """Compare the queries of the seeds from FIRST to LAST, without LAST."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--tuples", type=int, help="of each counterexample; 3 unless it is said")
    given = parser.parse_args()
    if given.tuples is not None:
        set_tuples(given.tuples)
    kinds = given.kinds or list(KINDS)
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"no kinds: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    told: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for seed in range(given.first, given.last):
        for kind in kinds:
            outcome, wrong = run_seed(kind, seed)
            told[kind][outcome] += 1
            if wrong is not None:
                print(f"{wrong}\n", flush=True)
        if seed % 25 == 24:
            print(f"until seed {seed}: {_count(told)}", file=sys.stderr, flush=True)
    for kind in kinds:
        print(f"{kind}: {', '.join(f'{n:,} {what}' for what, n in told[kind].most_common())}")
    print(_count(told))
    return 1 if any(t["different"] for t in told.values()) else 0


def _count(told: dict[str, Counter[str]]) -> str:
    every = sum(sum(t.values()) for t in told.values())
    return f"{every:,} queries, {sum(t['different'] for t in told.values()):,} different"


if __name__ == "__main__":
    sys.exit(main())
