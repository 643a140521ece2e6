"""Many random cases, in parts: `python -m tests.sparql_counts.run_cases FIRST LAST`.

Each number is the seed of a project, of which 20 cases are compared: 4 queries over 5 contents of
its tables. Every difference is printed, made small; the last line counts the cases.
"""

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TypeAlias

from ontoweir.errors import OntoweirError
from ontoweir.rewriter.unfold import match_stars
from tests.sparql_counts.case import Case
from tests.sparql_counts.compare_answers import (
    Difference,
    Equal,
    Refused,
    compare_case,
    compare_queries,
)
from tests.sparql_counts.computed_maps import compute_maps
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.shrink_case import shrink_case
from tests.sparql_counts.write_case import show_case, write_query

QUERIES, CONTENTS = 4, 5
Told: TypeAlias = Counter[str]
"""How many cases were equal "with answers" and "without", "refused", or "different"."""


def run_seed(seed: int, *, computed: bool = False) -> tuple[Told, list[str]]:
    """Compare the cases of a seed; `computed`: with expressions in the SQL of its mappings.

    Returns:
        how many cases had which outcome, and every difference, or error, as text.
    """
    case = random_case(seed)
    if computed:
        case = compute_maps(Random(seed), case)
    queries = [case.query, *(random_query(QUERIES * seed + i, case) for i in range(1, QUERIES))]
    numbers = range(CONTENTS * seed, CONTENTS * (seed + 1))
    contents = [random_rows(n, case, edges=not computed) for n in numbers]
    told, wrong = Told(), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcomes = compare_queries(case, queries, contents, Path(folder), computed=computed)
        except Exception:
            project = "\n".join((show_case(case), *map(write_query, queries)))
            return Told(different=1), [f"{traceback.format_exc()}\n{project}"]
        for outcome in (o for each in outcomes for o in each):
            match outcome:
                case Difference(case=found):
                    told["different"] += 1
                    if not wrong:
                        small = shrink_case(found, lambda c: _differs(c, computed))
                        made = compare_case(small, Path(folder), computed=computed)
                        wrong.append(str(made))
                case Equal(answers=answers):
                    told["with answers" if answers else "without"] += 1
                case Refused(reason=reason):
                    told["refused"] += 1
                    told[f"refused: {reason.split(':')[0]}"] += 1
    return told, wrong


def _differs(case: Case, computed: bool) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return isinstance(compare_case(case, Path(folder), computed=computed), Difference)
        except (OntoweirError, StopIteration, AssertionError):  # it is no project any more
            return False


def main() -> int:
    """Compare the cases of the seeds from FIRST to LAST, without LAST."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--computed", action="store_true", help="with expressions in mappings")
    given = parser.parse_args()
    total = Told()
    for seed in range(given.first, given.last):
        match_stars.MAX_APART = 1 if seed % 2 else 12
        told, wrong = run_seed(seed, computed=given.computed)
        total += told
        for text in wrong:
            print(f"seed {seed}: {text}\n", flush=True)
        if seed % 50 == 49:
            print(f"until seed {seed}: {_count(total)}", file=sys.stderr, flush=True)
    for reason, count in total.most_common():
        if reason.startswith("refused:"):
            print(f"{count:6}  {reason}")
    print(_count(total))
    return 1 if total["different"] else 0


def _count(told: Told) -> str:
    kinds = ("with answers", "without", "refused", "different")
    parts = ", ".join(f"{told[kind]:,} {kind}" for kind in kinds)
    return f"{sum(told[kind] for kind in kinds):,} cases: {parts}"


if __name__ == "__main__":
    sys.exit(main())
