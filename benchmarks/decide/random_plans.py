"""Random queries over random streams, run by their plans and compared with DuckDB at every marker.

    python benchmarks/decide/random_plans.py [--seeds 400] [--first 10000]

For each seed, a query of each style of tests/oracle/random_queries.py that is bounded runs by its
plan, marker by marker, cut at random and at once; one that is not bounded runs by the plan that
keeps everything, and so does an aggregate query. Ends with 1 if anything was wrong.
"""

import argparse
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.checker.decide import check_disjuncts
from ontoweir.checker.plans import choose_plan, make_plan
from tests.oracle import test_kernel_against_oracle as bounded
from tests.oracle.random_queries import STYLES
from tests.runtime.live import test_unbounded as unbounded


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--first", type=int, default=10_000)
    options = parser.parse_args()
    counts = {"runs": 0, "wrong": 0, "another_plan_chosen": 0}

    def choose(form: Any) -> Any:
        plan = choose_plan.choose_plan(form)
        counts["another_plan_chosen"] += plan != make_plan.make_plan(form)
        return plan

    vars(check_disjuncts)["choose_plan"] = choose
    vars(bounded)["event"] = lambda *_: None  # hypothesis's, which is not there
    begun = time.perf_counter()
    kernel: Any = bounded.test_kernel_equals_oracle
    for seed in range(options.first, options.first + options.seeds):
        cases = [(kernel.hypothesis.inner_test, (style, seed)) for style in sorted(STYLES)]
        cases += [
            (unbounded.test_answers_equal_the_oracle, (seed,)),
            (unbounded.test_aggregates_equal_the_oracle, (seed,)),
        ]
        for test, given in cases:
            counts["runs"] += 1
            try:
                test(*given)
            except Exception:
                counts["wrong"] += 1
                print(f"{test.__name__}{given}", file=sys.stderr)
                traceback.print_exc(limit=-3)
    print(json.dumps({**counts, "seconds": round(time.perf_counter() - begun, 1)}))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
