"""Attack the checker with random queries, and count: every verdict is run or its witness confirmed.

    .venv/bin/python benchmarks/decide/attack_verdicts.py --seconds 600 --seed 1 [--style keyed]

Of each case the plan is run after every marker and in chunks against DuckDB's answer, its
state against its bound; a witness is confirmed by DuckDB, and held to all that is declared; the
query is written in another way, and must get the same verdict. Prints, per style, how many cases of
which verdict there were, why the rest is undecided, and the slowest decision.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Failing, Tier, Verdict
from ontoweir.rewriter.model.spj import SpjUnion
from tests.oracle.random_queries import STYLES, Case, make_case, split_markers
from tests.oracle.test_aggregates_against_oracle import expect, make_aggregates, run_groups
from tests.oracle.test_kernel_against_oracle import _check_run, _one_by_one, _oracle
from tests.oracle.test_same_verdict import check_same, in_parts, other_names, other_order, row_twice
from tests.oracle.test_witness_against_oracle import check_aggregate_witness, check_witness

_CHANGES = (other_order, other_names, in_parts, row_twice)


def main() -> int:
    """The command line; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--style", choices=sorted(STYLES), action="append")
    options = parser.parse_args()
    styles = options.style or sorted(STYLES)
    wrong = 0
    print("style: cases, verdicts, undecided because of, the slowest decision")
    for style in styles:
        wrong += _attack(style, options.seconds / len(styles), options.seed)
    print("wrong:", wrong)
    return 1 if wrong else 0


def _attack(style: str, seconds: float, seed: int) -> int:
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong, slowest, started = 0, 0.0, time.monotonic()
    while time.monotonic() - started < seconds:
        seed += 1
        random = Random(f"{style} {seed}")
        case = make_case(random, style=style)
        union = make_aggregates(random, case) if random.random() < 0.3 else case.query
        before = time.monotonic()
        try:
            verdict = check_query(union, case.catalog)
            slowest = max(slowest, time.monotonic() - before)
            verdicts[verdict.name] += 1
            if verdict.tier is Tier.UNDECIDED:
                reasons[_reason(verdict)] += 1
            _confirm(random, case, union, verdict)
            changed = random.choice(_CHANGES)(random, case, union)
            if changed is not None:
                check_same(verdict, check_query(changed, case.catalog))
        except Exception:
            wrong += 1
            print(f"WRONG: {style} {seed}")
            traceback.print_exc(limit=-2)
    counts = ", ".join(f"{name} {n}" for name, n in verdicts.most_common())
    why = ", ".join(f"{name} {n}" for name, n in reasons.most_common()) or "nothing"
    print(f"{style}: {verdicts.total()} cases; {counts}; {why}; {slowest:.2f} s", flush=True)
    return wrong


def _reason(verdict: Verdict) -> str:
    """The codes of what an undecided query fails."""
    parts = [d for p in verdict.parts for d in p.disjuncts] or list(verdict.disjuncts)
    codes = {b.code for d in parts if isinstance(d, Failing) for b in d.because}
    return "+".join(sorted(codes)) or "?"


def _confirm(random: Random, case: Case, union: SpjUnion, verdict: Verdict) -> None:
    """Assert that a verdict is true, as far as data can tell."""
    witness = verdict.witness
    if witness is not None:
        if union.aggregation is None:
            check_witness(case, witness)
        else:
            check_aggregate_witness(case, union, witness)
        return
    if verdict.plans is None:
        return
    chunks = split_markers(random, case.markers)
    if union.aggregation is None:
        expected = _oracle(case)
        if verdict.tier is Tier.UNSATISFIABLE:
            assert not expected[-1]
            return
        one = _check_run(case, verdict.plans, _one_by_one(case), expected)
        assert one == _check_run(case, verdict.plans, chunks, expected)
        return
    groups = expect(case, union)
    if verdict.tier is Tier.UNSATISFIABLE:
        assert not groups[-1]
        return
    found, told, most = run_groups(case, union, verdict, _one_by_one(case))
    assert found == groups
    bound = verdict.bound
    assert bound is not None
    assert bound.rows is None or most <= bound.rows
    assert run_groups(case, union, verdict, chunks)[:2] == (found, told)


if __name__ == "__main__":
    sys.exit(main())
