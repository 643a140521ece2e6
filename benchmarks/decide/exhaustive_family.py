"""Every small query, decided: how many have a plan, a witness, or neither, bags and sets.

    PYTHONPATH=. .venv/bin/python benchmarks/decide/exhaustive_family.py [--streams N] [--joins N]
        [--projected N] [--kinds UBLH] [--loose] [--local] [--budget SECONDS] [--seed N] [--long]

Without --streams: the families of the table in order, each whole if the budget (for each family)
allows, else a random sample of it: the table says how much was run. Every plan (or one in
`--execute`) is run by the kernel on random data and compared with DuckDB's answers after every
marker. Every witness was
confirmed by plain evaluation when it was found; one in `--sample` is confirmed again by DuckDB.
--long: no budget. The exit code is 1 if a plan or a witness is wrong.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.oracle.exhaustive_family import KINDS, Family, draw_shapes, make_family, show
from tests.oracle.random_queries import Case, split_markers
from tests.oracle.run_family import (
    CATALOG,
    Decided,
    Outcome,
    check_plan,
    decide_shape,
    make_histories,
)
from tests.oracle.test_witness_against_oracle import check_witness

FAMILIES = (
    Family(1, 1, 2, "UBLH", ("<", "=", "<="), local=True),
    Family(2, 2, 4),
    Family(2, 2, 2, "UBLH"),
    Family(2, 4, 1),
    Family(2, 2, 1, operators=("<", "=", "<="), local=True),
    Family(3, 1, 2),
    Family(3, 2, 1),
    Family(3, 2, 2),
    Family(3, 2, 0, "UBLH"),
    Family(3, 3, 0),
)
"""Every query of one and two streams; of three streams those with few joins and projections."""

SMALLEST = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, choices=(1, 2, 3))
    parser.add_argument("--joins", type=int, default=2)
    parser.add_argument("--projected", type=int, default=1)
    parser.add_argument(
        "--kinds", default="UB", help=", ".join(f"{k}: {v}" for k, v in KINDS.items())
    )
    parser.add_argument("--loose", action="store_true", help="join by <= too")
    parser.add_argument("--local", action="store_true", help="compare attributes of one stream too")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each family")
    parser.add_argument(
        "--draw", type=int, metavar="N", help="N random queries of a family too large to be whole"
    )
    parser.add_argument("--long", action="store_true", help="no budget")
    parser.add_argument(
        "--sample", type=int, default=20, help="witnesses for DuckDB: one in so many"
    )
    parser.add_argument("--execute", type=int, default=1, help="execute one plan in so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if not set(options.kinds) <= set(KINDS):
        parser.error(f"--kinds: letters of {''.join(KINDS)}")
    families = FAMILIES
    if options.streams:
        operators = ("<", "=", "<=") if options.loose else ("<", "=")
        families = (
            Family(
                options.streams,
                options.joins,
                options.projected,
                options.kinds,
                operators,
                options.local,
            ),
        )
    budget = float("inf") if options.long else options.budget
    runs = [run_family(f, budget, options) for f in families]
    return 1 if any(runs) else 0


def run_family(family: Family, budget: float, options: argparse.Namespace) -> int:
    """Run a family and print its table; the number of wrong plans and witnesses."""
    start = time.perf_counter()
    random = Random(options.seed)
    if options.draw:
        shapes = list(draw_shapes(family, random, options.draw))
    else:
        shapes = list(make_family(family))
        random.shuffle(shapes)
    histories = make_histories(8, seed=options.seed)
    table: dict[bool, Counter[Outcome]] = {False: Counter(), True: Counter()}
    neither: list[Decided] = []
    wrong: list[str] = []
    done = confirmed = executed = 0
    deciding = 0.0
    for shape in shapes:
        if time.perf_counter() - start > budget:
            break
        done += 1
        before = time.perf_counter()
        both = decide_shape(shape)
        deciding += time.perf_counter() - before
        for decided in both:
            table[decided.query.distinct][decided.outcome] += 1
            try:
                if decided.plans and done % options.execute == 0:
                    executed += 1
                    history = histories[done % len(histories)]
                    check_plan(decided, history, split_markers(random, history.markers))
                elif decided.witness is not None and done % options.sample == 0:
                    confirmed += 1
                    check_witness(Case(CATALOG, decided.query, {}, 0), decided.witness)
            except AssertionError as error:
                wrong.append(f"{show(decided.query)}: {error}")
            if decided.outcome is Outcome.NEITHER:
                neither.append(decided)
    run = "all" if done == len(shapes) else "a random sample of"
    run = "random, of" if options.draw else run
    print(f"{family}\n  {run} {done:,} of {len(shapes):,} queries, each as a bag and as a set")
    print(f"  {'':6}" + "".join(f"{o:>15}" for o in Outcome))
    for distinct, counts in table.items():
        name = "sets" if distinct else "bags"
        print(f"  {name:6}" + "".join(f"{counts[o]:>15,}" for o in Outcome))
    print(
        f"  {deciding:.0f} s deciding, {time.perf_counter() - start:.0f} s in all; "
        f"{executed:,} plans "
        f"executed; every witness confirmed, {confirmed:,} of them by DuckDB too; "
        f"{len(wrong)} wrong"
    )
    neither.sort(key=lambda d: (len(show(d.query)), show(d.query)))
    for decided in neither[:SMALLEST]:
        print(f"  neither: {show(decided.query)}")
    for text in wrong[:SMALLEST]:
        print(f"  WRONG: {text}")
    print(flush=True)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
