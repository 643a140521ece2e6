"""Plans of a query that lose nothing of what breaks a rule: what they keep beside what the rule
says is on disk."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.plan_unbounded import UnboundedPlans, plan_unbounded
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, SynopsisPlan, SynopsisTable
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Lag, Stream
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.spj import SpjUnion, View
from ontoweir.run.spare_rules import spare_rules

if TYPE_CHECKING:
    from ontoweir.runtime.spill.spill_plan import SpillPlan

_ROWS = 1 << 17
"""So many rows of each plan are in memory where nothing bounds them by a number."""


@dataclass(frozen=True, slots=True)
class Spared:
    """A query without the rules of which what they drop is kept on disk: `verdict`: on that."""

    union: SpjUnion
    catalog: Catalog
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SpillingPlans:
    """The plans of a query, part after part; of each what may be on disk; and the most rows in
    memory (None: not known)."""

    found: UnboundedPlans
    spill: "tuple[SpillPlan | None, ...]"
    bound: int | None


def spare_query(workspace: Workspace, compiled: CompiledQuery, known: Statistics) -> Spared | None:
    """The query without rules with `on_violation = "spill"` (None: its streams have none).

    Args:
        workspace: the project.
        compiled: the query.
        known: of the static relations that it reads.

    Raises:
        QueryError: it reads answers, which the rules hold for, too.
    """
    union, catalog = compiled.union, workspace.project.catalog
    spared = spare_rules(catalog, tables_of(union))
    if spared is None:
        return None
    if union.blocks or union.begins or union.standing is not None or union.joined:
        raise _refuse(union, "it reads answers of a query, or shows rows later than their time")
    if compiled.branches:
        union = workspace.recompile(compiled, "", "", spared)
    else:  # what SQL is compiled to follows from lags in its views alone
        union = replace(union, views=tuple(_spare_view(view, catalog) for view in union.views))
    verdict = check_query(union, spared, statistics=known, disprove=False)
    return Spared(union, spared, verdict)


def plan_spilling(
    spared: Spared, ruled: Verdict, known: Statistics, *, changing: bool
) -> SpillingPlans:
    """The plans of a query that only the rules bound, which spill.

    Args:
        spared: the query without them, which is not bounded.
        ruled: the verdict with them, which is.
        known: of the static relations that it reads.
        changing: its answers are written as they begin and end.

    Raises:
        QueryError: what it would keep on disk cannot be found again by values.
    """
    if ruled.closes_values:
        raise _refuse(spared.union, "its groups are final when a rule closes their values")
    if any(plan.form.open for plan in ruled.plans or ()):
        raise _refuse(spared.union, "its rows are joined as long as a rule leaves values open")
    if changing:
        raise _refuse(spared.union, "its answers are written as they begin and end")
    found = plan_unbounded(spared.union, spared.catalog, statistics=known)
    catalog = extend_catalog(spared.catalog, spared.union)
    held = [plan.bound.rows for plan in ruled.plans or ()]
    numbers = [rows for rows in held if rows is not None]
    share = _ROWS
    if len(numbers) == len(held) and ruled.bound is not None and ruled.bound.rows is not None:
        share = max(sum(numbers) // max(len(found.plans), 1), 1)
    plans, spill = [], []
    extra: int | None = 0
    for plan, union, alone in _list_plans(spared.union, found):
        last = union.distinct and not (alone and _is_injective(plan, catalog))
        made, kept, beside = _spill(spared, plan, share, without_last=last)
        plans.append(made)
        spill.append(kept)
        extra = None if extra is None or beside is None else extra + beside
    bound: int | None = None
    if extra is not None and ruled.bound is not None and ruled.bound.rows is not None:
        waiting = sum(b.rows or 0 for b in ruled.waiting)
        bound = ruled.bound.rows - waiting - sum(numbers) + share * len(plans) + extra
    return SpillingPlans(replace(found, plans=tuple(plans)), tuple(spill), bound)


def _spare_view(view: View, catalog: Catalog) -> View:
    """A view without the lags that it has by rules that spill."""
    if not isinstance(view.table, Stream):
        return view
    spilling = {
        _same(lag)
        for stream in catalog.streams.values()
        for lag in stream.lags
        if lag.breach is not None and lag.breach.spill
    }
    left = tuple(lag for lag in view.table.lags if _same(lag) not in spilling)
    return replace(view, table=replace(view.table, lags=left))


def _same(lag: Lag) -> tuple[object, ...]:
    """What a lag has in a view, too."""
    return lag.behind, lag.to, lag.within_us, lag.source


def _refuse(union: SpjUnion, what: str) -> QueryError:
    return QueryError(
        f'{union.name} reads streams with on_violation = "spill", and {what}',
        why="what such a rule drops is kept on disk for the matches of a query that it bounds, and "
        "for nothing else",
        fix='write on_violation = "count" or "reject" for the rule',
        source=union.source,
    )


def _list_plans(
    union: SpjUnion, found: UnboundedPlans
) -> list[tuple[SynopsisPlan, SpjUnion, bool]]:
    """Each plan, what it is a plan of, and whether that has no other."""
    if not found.parts:
        return [(plan, union, len(found.plans) == 1) for plan in found.plans]
    owners = [(part.union, count == 1) for part, count in found.parts for _ in range(count)]
    return [(plan, *owner) for plan, owner in zip(found.plans, owners, strict=True)]


def _is_injective(plan: SynopsisPlan, catalog: Catalog) -> bool:
    """Whether different results are different answers."""
    query = plan.form.query
    types = Types(catalog, query.occurrences)
    return all(is_injective(output, types) for _, output in query.outputs)


def _spill(
    spared: Spared, plan: SynopsisPlan, share: int, *, without_last: bool
) -> "tuple[SynopsisPlan, SpillPlan | None, int | None]":
    """A plan with the bounds of what it has in memory; what may be on disk; and how many rows are
    in memory beside that (None: not known)."""
    from ontoweir.runtime.spill.spill_plan import SpillPlan, list_spilled

    found = list_spilled(plan, without_last=without_last)
    names = {table.members for table in found}
    for table in plan.tables:
        if table.stored and table.members not in names and not _is_bounded(plan, table):
            raise _refusal(spared, plan, table)
    rest = [t.bound.rows for t in plan.tables if t.stored and t.members not in names]
    beside = None if any(rows is None for rows in rest) else sum(rows or 0 for rows in rest)
    bound = Bound(share, f"{share:,} in memory, others on disk")
    tables = [replace(t, bound=bound) if t.members in names else t for t in plan.tables]
    tables = [replace(t, matched=()) for t in tables]  # rows on disk are not dropped
    made = replace(plan, tables=tuple(tables))
    return made, SpillPlan(found, share) if found else None, beside


def _is_bounded(plan: SynopsisPlan, table: SynopsisTable) -> bool:
    """Whether so many rows of a table are kept as are declared, or come in some time."""
    classes = plan.form.classes
    if all(not k.whole or classes[k.value].domain.known for k in table.keys):
        return True
    return len(table.members) == 1 and any(k.expire_after is not None for k in table.kept)


def _refusal(spared: Spared, plan: SynopsisPlan, table: SynopsisTable) -> QueryError:
    names = ", ".join(plan.form.members[i].alias for i in sorted(table.members))
    last = table is plan.tables[-1]
    what = "its answers" if last else f"the matches of {names}"
    return QueryError(
        f'{spared.union.name}: {what} cannot be kept on disk (on_violation = "spill")',
        why="answers of several kinds are compared with all that were told before"
        if last
        else "later rows are compared with all of them, by no value that is equal",
        fix='write on_violation = "count" or "reject" for the rule, or limit the time of matches '
        "by a window",
        source=spared.union.source,
    )
