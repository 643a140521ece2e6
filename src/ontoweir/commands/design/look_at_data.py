"""Hold the declarations of a project, and those of repairs, against the data at hand."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ontoweir.checker.repair.changes import (
    DeclareDomain,
    DeclareFew,
    DeclareGap,
    DeclareKey,
    DeclareReference,
    apply_change,
)
from ontoweir.commands.common.decide_queries import Decided, Outcome
from ontoweir.commands.common.rendered import RenderedVerdict
from ontoweir.commands.design.data_option import read_sample
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.measuring.show_violations import (
    describe_violations,
    print_violations,
    show_example,
)
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.run.check_data import DataCheck

if TYPE_CHECKING:
    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.violations.violation import TableViolations


_SHOWN = 2
"""How many rows are shown that a repair is not true of."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found: `outcomes`, whose repairs say how many rows they would reject; the `tables`
    that were looked at; `reads`: for each query the tables that it reads."""

    outcomes: "tuple[Outcome, ...]"
    tables: "tuple[TableViolations, ...]"
    reads: tuple[frozenset[str], ...]

    @property
    def wrong(self) -> bool:
        """Whether what is declared is not true of some row."""
        return any(t.violations for t in self.tables)

    def print(self) -> None:
        """Print what was found of the tables, below the verdicts."""
        from rich.console import Console

        print_violations(self.tables, Console(highlight=False))

    def describe(self, rendered: Sequence[RenderedVerdict]) -> list[RenderedVerdict]:
        """Verdicts as JSON, each with `data`; then one of no query, with what none reads."""
        described = []
        for verdict, read in zip(rendered, self.reads, strict=True):
            mine = [t for t in self.tables if t.table in read]
            shown = {**verdict.shown, "data": describe_violations(mine)}
            described.append(replace(verdict, shown=shown))
        rest = [t for t in self.tables if not any(t.table in read for read in self.reads)]
        if rest:
            shown = {"query": None, "verdict": None, "data": describe_violations(rest)}
            described.append(RenderedVerdict("", None, shown))
        return described


def look_at_data(
    args: argparse.Namespace, workspace: Workspace, outcomes: "Sequence[Outcome]"
) -> Looked:
    """Hold the data to the catalog, and to what repairs would declare.

    Raises:
        DataError: data is missing, or cannot be read.
    """
    from ontoweir.progress.show_replay import show_replay

    catalog = workspace.project.catalog
    reads = tuple(
        _tables(o.compiled, catalog) if isinstance(o, Decided) else frozenset() for o in outcomes
    )
    named = args.query or args.sql is not None
    wanted = frozenset().union(*reads) if named else {*catalog.streams, *catalog.relations}
    most = read_sample(args)
    with nullcontext() if args.quiet else show_replay("checking the data") as progress:
        check = DataCheck(catalog, _spark, most, progress)
        tables = tuple(check.find(wanted))
        counted = [_count(o, check) if isinstance(o, Decided) else o for o in outcomes]
        timed = args.model != "arrival"
        kept = _find_kept(args, workspace, counted, progress) if timed else {}
    ranked = (_rank(o, kept) if isinstance(o, Decided) else o for o in counted)
    return Looked(tuple(ranked), tables, reads)


def _find_kept(
    args: argparse.Namespace,
    workspace: Workspace,
    outcomes: "Sequence[Outcome]",
    progress: "ProgressListener | None",
) -> dict[str, DescribedRepair]:
    """For queries that are not bounded, by name: declarations that the data keeps and that make it
    bounded."""
    from ontoweir.measuring.measure_project import measure_project
    from ontoweir.measuring.propose_repair import propose_repair
    from ontoweir.pipeline.read_text import read_project

    catalog = workspace.project.catalog
    failing = [
        o.compiled
        for o in outcomes
        if isinstance(o, Decided)
        and o.verdict.plans is None
        and any(n in catalog.streams for n in tables_of(o.compiled.union))
    ]
    text = read_project(catalog.file)
    if not failing or text is None:
        return {}
    measured = measure_project(workspace, failing, _spark, progress, read_sample(args))
    made = {r.query: propose_repair(r, catalog.file, text) for r in measured.remedies}
    return {name: repair for name, repair in made.items() if repair is not None}


def _rank(decided: Decided, kept: Mapping[str, DescribedRepair]) -> Decided:
    """With what the data supports first: what it keeps, repairs that it does not contradict, and
    others by how many rows they are not true of."""
    made = kept.get(decided.compiled.name)
    mine = [*(() if made is None else (made,)), *decided.repairs]
    mine.sort(key=lambda r: (2, r.rejects) if r.rejects else (r.rejects is None, 0))
    return replace(decided, repairs=tuple(mine))


def _tables(compiled: CompiledQuery, catalog: Catalog) -> frozenset[str]:
    """The tables of the catalog that a query reads, and those that its streams refer to."""
    declared = catalog.streams.keys() | catalog.relations.keys()
    read = declared & tables_of(compiled.union)
    referred = {r.relation for n in read for r in catalog.table(n).references}
    return frozenset(read | referred)


def _count(decided: Decided, check: DataCheck) -> Decided:
    repairs = tuple(_count_rejects(r, decided.compiled, check) for r in decided.repairs)
    return replace(decided, repairs=repairs)


def _count_rejects(
    repair: DescribedRepair, compiled: CompiledQuery, check: DataCheck
) -> DescribedRepair:
    """A repair that says how many rows of the data its declarations are not true of; not where it
    lists values, which only stand for those that are meant."""
    catalog, declared = check.catalog, set[str]()
    for change in repair.changes:
        if isinstance(
            change, DeclareDomain | DeclareKey | DeclareReference | DeclareGap | DeclareFew
        ):
            _, catalog = apply_change(change, compiled.union, catalog)
            column = isinstance(change, DeclareDomain) and catalog.streams[change.stream].column(
                change.column
            )
            if column and column.enum is not None:
                return repair
            declared.add(change.stream)
    own = {n for n, s in check.catalog.streams.items() if s.versions is None}
    if not declared & own:
        return repair
    counts, against = 0, []
    for name in sorted(declared & own):
        before = check.find_in(check.catalog.streams[name])
        after = check.find_in(catalog.streams[name])
        counts += after.wrong - before.wrong
        known = {v.reason: v.rows for v in before.violations}
        more = (v for v in after.violations if v.rows > known.get(v.reason, 0))
        against += [show_example(example) for v in more for example in v.examples]
    return replace(repair, rejects=counts, against=tuple(against[:_SHOWN]) if counts > 0 else ())


@cache
def _spark() -> Any:
    """A session, where a source needs it."""
    from ontoweir.runtime.spark.start_session import start_session

    return start_session({})
