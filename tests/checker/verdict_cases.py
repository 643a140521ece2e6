"""Decides a case of the checker, and compares what its `verdict` says.

A case is a query, `sql`, over a catalog, `toml`, and `verdict`, a block of `key: value` lines:
`verdict`, `tier`, `rows`, `bound`, `because` (codes), `rests on` (declarations), `pattern` and
`emit` (how answers change, and how they are told), `rows as changes`, `partition` (by what rows
can be divided), and one line for each criterion: `lag`, `[S] Th. 1`, `[S] Th. 2`, `[A] Th. 5.6`,
`[A] Th. 8.6` … (`holds` or `fails C1, C2`). `model: arrival` decides without timestamps.
"""

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.criterion import CriterionResult
from ontoweir.checker.partition.partition import show_partition
from ontoweir.checker.verdict.find_pattern import find_pattern
from ontoweir.checker.verdict.verdict import Bounded, Failing, Verdict
from ontoweir.checker.witness.witness import Witness
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import choose_emit
from tests.case_files import Case, Golden
from tests.read_given import read_catalog


def compare_verdict(case: Case, golden: Golden) -> None:
    """The verdict is what the case says of it, line by line."""
    asked = dict(line.split(": ", 1) for line in case.given("verdict").splitlines())
    found = {"model": asked.get("model", ""), **_describe(decide_case(case))}
    if "pattern" in asked:
        found |= _describe_changes(case)
    golden(case, "verdict", "".join(f"{key}: {found.get(key)}\n" for key in asked))


def decide_case(case: Case, *, disprove: bool = True) -> Verdict:
    """The verdict on a case's query; `disprove`: a witness is looked for."""
    catalog = read_catalog(case.given("toml"))
    timed = "model: arrival" not in case.blocks.get("verdict", "")
    return check_query(parse_case(case), catalog, timed=timed, disprove=disprove)


def parse_case(case: Case) -> SpjUnion:
    """A case's query."""
    catalog = read_catalog(case.given("toml"))
    return parse_sql(case.given("sql"), catalog, name="case", file="case.sql")


def list_criteria(verdict: Verdict) -> list[tuple[str, CriterionResult]]:
    """What each criterion says of each disjunct, by its key in CRITERIA."""
    decided = [d for d in verdict.disjuncts if isinstance(d, Bounded | Failing)]
    return [pair for d in decided for pair in d.criteria.decided().items()]


def _describe(verdict: Verdict) -> dict[str, str]:
    bound = verdict.bound
    failing = [d for d in verdict.disjuncts if isinstance(d, Failing)]
    codes = dict.fromkeys(b.code for d in failing for b in d.because)
    found = {
        "verdict": verdict.name,
        "tier": str(verdict.tier),
        "rows": "none" if bound is None else str(bound.rows),
        "bound": "none" if bound is None else bound.formula,
        "witness": "yes" if isinstance(verdict.witness, Witness) else "no",
        "rests on": "; ".join(d.text for d in verdict.conditions) or "nothing",
        "because": ", ".join(codes) or "nothing",
        "partition": "none" if verdict.partition is None else show_partition(verdict.partition),
    }
    failed: dict[str, dict[str, None]] = {}
    for _, criterion in list_criteria(verdict):  # it holds where it does of every disjunct
        failed.setdefault(criterion.name, {}).update(dict.fromkeys(criterion.failed))
    found |= {name: f"fails {', '.join(c)}" if c else "holds" for name, c in failed.items()}
    return found


def _describe_changes(case: Case) -> dict[str, str]:
    catalog, union = read_catalog(case.given("toml")), parse_case(case)
    verdict = decide_case(case, disprove=False)
    changes = None if verdict.bound is None else bound_changes(verdict, catalog).rows
    return {
        "pattern": str(find_pattern(verdict.union, extend_catalog(catalog, verdict.union))),
        "emit": str(choose_emit(union)),
        "rows as changes": str(changes),
    }
