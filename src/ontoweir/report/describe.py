"""Verdicts, plans and witnesses as JSON (the fields of the interface contract)."""

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.explain.blame_verdict import blame_verdict
from ontoweir.checker.explain.explain_bounded import explain_bounded
from ontoweir.checker.model.criterion import CriterionResult
from ontoweir.checker.partition.partition import (
    ByAnything,
    ByKey,
    NotDivided,
    Partition,
    show_partition,
)
from ontoweir.checker.verdict.find_pattern import UpdatePattern, find_pattern
from ontoweir.checker.verdict.verdict import (
    Bounded,
    DisjunctVerdict,
    Failing,
    Tier,
    Unsatisfiable,
    Verdict,
    tier_within,
)
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.diagnostics import Diagnostic, Label, Reason
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.errors import Source
from ontoweir.files.mark_source import mark_label
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.ties.note_ties import list_ties
from ontoweir.rewriter.windows.choose_emit import default_emit
from ontoweir.rewriter.windows.shows_set import shows_set

Described: TypeAlias = "dict[int, list[dict[str, Any]]]"


def describe_verdict(
    verdict: Verdict, catalog: Catalog, repairs: Sequence[DescribedRepair] = ()
) -> dict[str, Any]:
    """A verdict and its repairs, as `ontoweir check --format json` prints them."""
    catalog = extend_catalog(catalog, verdict.union)
    bound, blame = verdict.bound, blame_verdict(verdict, catalog)
    pattern = find_pattern(verdict.union, catalog, closed=verdict.closes_values)
    changes = None if bound is None else bound_changes(verdict, catalog)
    described: Described = {}  # many disjuncts may have the same reasons
    return {
        "query": verdict.union.name,
        "semantics": "set" if shows_set(verdict.union) else "bag",
        "verdict": verdict.name,
        "tier": str(verdict.tier),
        "pattern": str(pattern),
        "final": pattern is UpdatePattern.MON,
        "emit": str(default_emit(verdict.union)),
        "bound": {
            "rows": None if bound is None else bound.rows,
            "formula": "∞" if bound is None else bound.formula,
        },
        "bound_of_changes": {
            "rows": None if changes is None else changes.rows,
            "formula": "∞" if changes is None else changes.formula,
        },
        "conditions": [d.text for d in verdict.conditions],
        "ties": list(list_ties(verdict.union)),
        "partition": _partition(verdict.partition),
        "blame": None if blame is None else _reason(blame),
        "disjuncts": [_disjunct(verdict, d, catalog, described) for d in verdict.disjuncts],
        "witness": None if verdict.witness is None else _witness(verdict.witness),
        "repairs": [_repair(r) for r in repairs],
        "reads": [describe_verdict(inner, catalog) for inner in verdict.blocks],
    }


def _partition(partition: Partition | None) -> dict[str, Any] | None:
    """By which columns rows can be divided among parts, or why they cannot."""
    if partition is None:
        return None
    described: dict[str, Any] = {"shown": show_partition(partition), "divides": True}
    match partition:
        case ByKey(columns=columns, whole=whole, free=free):
            described["by"] = [{"stream": s, "column": c} for s, c in columns]
            return described | {"whole": list(whole), "free": list(free)}
        case ByAnything():
            return described | {"by": []}
        case NotDivided(why=why):
            return described | {"divides": False, "why": why}
        case _:
            assert_never(partition)


def _repair(repair: DescribedRepair) -> dict[str, Any]:
    """A repair; each edit replaces `replaces` lines, starting at `line`, by `lines`. All edits of a
    repair refer to the line numbers before any edit."""
    bound = repair.verdict.bound
    return {
        "actions": list(repair.actions),
        "verdict": repair.verdict.name,
        "bound": {
            "rows": None if bound is None else bound.rows,
            "formula": "∞" if bound is None else bound.formula,
        },
        "tier": str(repair.verdict.tier),
        **({} if repair.rejects is None else {"rejects": repair.rejects}),
        **({"against": list(repair.against)} if repair.against else {}),
        "edits": [
            {
                "file": e.source.file,
                "line": e.source.line,
                "replaces": e.replaced,
                "lines": list(e.lines),
            }
            for e in repair.edits
        ],
    }


def _disjunct(
    whole: Verdict, verdict: DisjunctVerdict, catalog: Catalog, known: Described
) -> dict[str, Any]:
    """`known`: what was described of reasons, by the place of the objects in memory, which stay."""
    union, tier = whole.union, tier_within(whole, verdict)
    single = SpjUnion(union.name, union.variables, (verdict.query,), union.distinct, union.source)
    described: dict[str, Any] = {
        "sql": print_sql(single, catalog, comments=False, short=False),
        "verdict": "unbounded" if tier is Tier.UNBOUNDED else _name(verdict),
        "tier": str(tier),
        "criteria": {},
        "because": [],
        "why": [],
    }
    match verdict:
        case Bounded(criteria=criteria) | Failing(criteria=criteria):
            described["criteria"] = {k: _criterion(c) for k, c in criteria.decided().items()}
            if isinstance(verdict, Failing):
                place = id(verdict.because)
                if place not in known:
                    known[place] = [_diagnostic(d) for d in verdict.because]
                described["because"] = known[place]
            else:
                reasons = explain_bounded(verdict.plan, whole.union, catalog)
                described["why"] = [_reason(r) for r in reasons]
        case Unsatisfiable():
            pass
    return described


def _name(verdict: DisjunctVerdict) -> str:
    match verdict:
        case Unsatisfiable():
            return "unsatisfiable"
        case Bounded(conditions=conditions):
            return "conditionally-bounded" if conditions else "bounded"
        case Failing():
            return "undecided"


def _criterion(criterion: CriterionResult) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "holds": criterion.holds,
        "failed": list(criterion.failed),
    }


def _source(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else {"file": source.file, "line": source.line}


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "source": _source(diagnostic.source),
        "mapping": diagnostic.mapping,
        "mapping_source": _source(diagnostic.mapping_source),
        "axiom": diagnostic.axiom,
        "axiom_source": _source(diagnostic.axiom_source),
        "labels": [_label(label) for label in diagnostic.labels],
        "because": [_reason(r) for r in diagnostic.because],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "message": reason.message,
        "hint": reason.hint,
        "label": None if reason.label is None else _label(reason.label),
        "because": [_reason(r) for r in reason.because],
    }


def _label(label: Label) -> dict[str, Any]:
    marked = mark_label(label)
    return {
        "kind": label.kind,
        "text": label.text,
        "file": label.source.file,
        "line": label.source.line,
        "column": None if marked is None else marked.start,
        "end_column": None if marked is None else marked.stop,
    }


def _row(row: WitnessRow) -> dict[str, Any]:
    values = {k: v if isinstance(v, int | float | str | bool) else str(v) for k, v in row.values}
    return {"table": row.table, "step": row.step, "values": values}


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "size": witness.size,
        "prefix": [_row(r) for r in (*witness.fixed, *witness.optional)],
        "optional": [_row(r) for r in witness.optional],
        "suffixes": [[_row(r) for r in suffix] for suffix in witness.suffixes],
    }
