"""Verdicts as text for people."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.explain.blame_verdict import blame_verdict
from ontoweir.checker.explain.explain_bounded import explain_bounded
from ontoweir.checker.partition.partition import show_partition
from ontoweir.checker.repair.changes import DeclareFew, DeclareGap
from ontoweir.checker.verdict.find_pattern import find_pattern
from ontoweir.checker.verdict.verdict import Bounded, Failing, Tier, Verdict, list_blocks
from ontoweir.diagnostics import Diagnostic, Label, Reason
from ontoweir.edit.describe_repairs import DescribedRepair, replaced_lines
from ontoweir.errors import Source
from ontoweir.files.mark_source import Marked, mark_label
from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.refused_query import RefusedQuery
from ontoweir.report.describe_finality import describe_finality
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.ties.note_ties import list_ties
from ontoweir.rewriter.windows.choose_emit import Emit, default_emit
from ontoweir.rewriter.windows.shows_set import shows_set

_STYLE = {
    Tier.UNBOUNDED: "bold red",
    Tier.UNDECIDED: "bold yellow",
    Tier.CONDITIONALLY_BOUNDED: "bold cyan",
    Tier.UNSATISFIABLE: "dim",
}


SHOWN = 3
"""How many repairs are printed; the other formats have all of them."""

_MANY_ALIKE = 8
"""Up to so many reasons of one place are all printed."""


def render_verdict(
    verdict: Verdict,
    console: Console,
    catalog: Catalog,
    repairs: Sequence[DescribedRepair],
    *,
    width: int,
    verbose: bool = False,
) -> None:
    """Print a verdict in a line, and its conditions; for a failure, the reasons and repairs.

    Args:
        verdict: the verdict.
        console: the console to print to.
        catalog: the project's catalog.
        repairs: the repairs of the query.
        width: the width of the longest query name.
        verbose: also print every criterion, by what rows can be divided, and the reasons of a
            bounded query.
    """
    catalog = extend_catalog(catalog, verdict.union)
    style = _STYLE.get(verdict.tier, "bold green")
    line = Text(verdict.union.name.ljust(width + 2))
    line.append("set  " if shows_set(verdict.union) else "bag  ", style="dim")
    line.append(str(verdict.tier).ljust(22), style=style)
    if verdict.bound is not None and verdict.tier is not Tier.UNSATISFIABLE:
        rows = verdict.bound.rows
        line.append("finite" if rows is None else f"≤ {rows:,} rows")
        if verdict.bound.formula not in ("0", "1"):
            line.append(f"  = {verdict.bound.formula}", style="dim")
    elif verdict.witness is not None:
        line.append(f"a counterexample with {verdict.witness.size} tuples is confirmed")
    console.print(line, soft_wrap=True)
    made = {view.name: view.why for view in verdict.union.views}
    for condition in verdict.conditions:
        line = Text(f"  rests on {condition.text}", style="cyan")
        if why := made.pop(condition.table, ""):
            line.append(f" ({condition.table}: {why})", style="dim")
        console.print(line, soft_wrap=True)
    _render_endings(verdict, console, catalog)
    for said in list_ties(verdict.union):
        console.print(Text(f"  {said}", style="dim"), soft_wrap=True)
    for inner in verdict.blocks:
        _render_block(inner, console, "  ")
    for block in verdict.union.blocks:
        if (final := describe_finality(block)) is not None:
            console.print(Text(f"  {final}", style="dim"), soft_wrap=True)
    if verbose:
        for one in (verdict, *list_blocks(verdict)):
            _render_criteria(one, console)
            if one.partition is not None:
                by = Text(f"  {show_partition(one.partition)}", style="dim")
                console.print(by, soft_wrap=True)
            _render_plans(one, console, extend_catalog(catalog, one.union))
    _render_failures(verdict, console, verbose=verbose)
    blame = blame_verdict(verdict, catalog)
    if blame is not None:
        _render_reason(blame if verbose else _shorten(blame), console, "  ", "  ")
    for number, repair in enumerate(repairs[:SHOWN], 1):
        _render_repair(repair, number, console)


def _render_endings(verdict: Verdict, console: Console, catalog: Catalog) -> None:
    """How answers that end are told, and what is held with those that hold, if it is more."""
    changing = verdict.union.standing is not None or verdict.union.joined is not None
    groups = verdict.union.aggregation
    changing |= groups is not None and groups.numbered is not None
    if verdict.union.ends or changing:
        pattern, emit = (
            find_pattern(verdict.union, catalog, closed=verdict.closes_values),
            default_emit(verdict.union),
        )
        told = {
            Emit.INTERVALS: "each says when it begins and ends (at, until)",
            Emit.CHANGES: "they are written as they begin (+) and end (-)",
            Emit.SNAPSHOTS: "all that hold are written whenever that changes",
            Emit.INSERTIONS: "they are written as they begin",
            Emit.DELETIONS: "they are written as they end",
        }[emit]
        line = Text(f"  answers end ({pattern}): {told}", style="dim")
        if emit is Emit.INTERVALS and verdict.plans is not None:
            changes = bound_changes(verdict, catalog).rows
            kept = "finitely many" if changes is None else f"≤ {changes:,}"
            line.append(f"; with --emit changes or snapshots {kept} rows, with those that hold")
        elif verdict.bound is not None and verdict.plans is not None:
            held = bound_changes(verdict, catalog).rows
            if held is not None and held != verdict.bound.rows:
                line.append(f"; ≤ {held:,} rows, with those that hold")
        console.print(line, soft_wrap=True)


def _render_failures(verdict: Verdict, console: Console, *, verbose: bool) -> None:
    """The reasons of disjuncts, each once; of many in one place, as where hundreds of tables are
    mapped alike, the first ones, unless `verbose`."""
    every = (d for one in (verdict, *list_blocks(verdict)) for d in one.disjuncts)
    found: dict[tuple[str, str, Source | None], Diagnostic] = {}
    for disjunct in every:
        for one in disjunct.because if isinstance(disjunct, Failing) else ():
            found.setdefault((one.code, one.message, one.source), one)
    places: dict[tuple[str, Source | None], list[Diagnostic]] = {}
    for (code, _, source), diagnostic in found.items():
        places.setdefault((code, source), []).append(diagnostic)
    for (code, _), alike in places.items():
        few = alike if verbose or len(alike) <= _MANY_ALIKE else alike[:SHOWN]
        for diagnostic in few:
            _render_diagnostic(diagnostic, console, verbose=verbose)
        if len(few) < len(alike):
            maps = {m: None for one in alike[len(few) :] for m in _mapped(one)}
            where = f": {', '.join([*maps][:SHOWN])}{', …' if len(maps) > SHOWN else ''}"
            more = f"  {code}: so it is for {len(alike) - len(few):,} more{where if maps else ''}"
            console.print(Text(f"{more} (--verbose shows them)"), soft_wrap=True)


def _mapped(diagnostic: Diagnostic) -> list[str]:
    """The triples maps that a diagnostic marks."""
    return [x.mark for x in diagnostic.labels if x.kind == "mapping" and x.mark is not None]


def _render_block(verdict: Verdict, console: Console, indent: str) -> None:
    """A line for a query whose answers are read, and for each that it reads."""
    line = Text(f"{indent}reads {verdict.union.name}: ", style="dim")
    line.append(str(verdict.tier), style=_STYLE.get(verdict.tier, "bold green"))
    if verdict.bound is not None:
        rows = verdict.bound.rows
        line.append(", finite" if rows is None else f", ≤ {rows:,} rows")
        line.append(f"  = {verdict.bound.formula}", style="dim")
    console.print(line, soft_wrap=True)
    for inner in verdict.blocks:
        _render_block(inner, console, indent + "  ")


def render_refused(refused: RefusedQuery, console: Console, *, width: int) -> None:
    """Print that a query has no verdict, and what is refused; the errors give reasons and fixes."""
    error = refused.error
    line = Text(refused.name.ljust(width + 2))
    line.append("     ")
    line.append("refused".ljust(22), style="bold yellow")
    place = "" if error.source is None else f"{short_place(error.source)}: "
    line.append(f"{place}{error.what}")
    console.print(line, soft_wrap=True)


def render_incomplete(missing: Sequence[RefusedMap], console: Console) -> None:
    """Print which triples maps are left out that a query could have needed."""
    for refused in missing:
        place = refused.error.source
        where = "" if place is None else f" ({short_place(place)})"
        line = Text(f"  may be incomplete: without {refused.id}{where}", style="yellow")
        console.print(line, soft_wrap=True)


def _render_repair(repair: DescribedRepair, number: int, console: Console) -> None:
    """The action, the verdict with it, and the lines: `+` added, `-` removed."""
    head = Text(f"  repair {number}: ", style="bold")
    head.append("; ".join(repair.actions), style="not bold")
    console.print(head, soft_wrap=True)
    bound = repair.verdict.bound
    rows = "finite" if bound is None or bound.rows is None else f"≤ {bound.rows:,} rows"
    gives = Text("    then ", style="dim")
    gives.append(str(repair.verdict.tier), style=_STYLE.get(repair.verdict.tier, "bold green"))
    gives.append(f", {rows}", style="not dim")
    if bound is not None and bound.formula not in ("0", "1"):
        gives.append(f" = {bound.formula}")
    console.print(gives, soft_wrap=True)
    if repair.rejects is not None:
        count = f"{repair.rejects:,} row{'s' * (repair.rejects != 1)}"
        gap = any(isinstance(change, DeclareGap | DeclareFew) for change in repair.changes)
        told = f"    would {'not be true of' if gap else 'reject'} {count} of the data at hand"
        console.print(Text(told, style="yellow" if repair.rejects else "dim"), soft_wrap=True)
        for row in repair.against:
            console.print(Text(f"      {row}", style="dim"), soft_wrap=True)
    for edit in repair.edits:
        console.print(Text(f"    {short_place(edit.source)}", style="dim"), soft_wrap=True)
        for line in replaced_lines(edit):
            console.print(Text(f"    - {line}", style="red"), soft_wrap=True)
        for line in edit.lines:
            console.print(Text(f"    + {line}", style="green"), soft_wrap=True)


def _render_criteria(verdict: Verdict, console: Console) -> None:
    for number, disjunct in enumerate(verdict.disjuncts, 1):
        if not isinstance(disjunct, Bounded | Failing):
            console.print(Text(f"  SQL {number}: selects nothing", style="dim"))
            continue
        parts = disjunct.criteria.decided()
        if "set" in parts:  # of sets [S] Th. 2 says what Th. 1 says of bags
            del parts["tree"]
        given = "; ".join(
            f"{c.name} {'holds' if c.holds else 'fails ' + ', '.join(c.failed)}"
            for c in parts.values()
        )
        console.print(Text(f"  SQL {number}: {given}", style="dim"), soft_wrap=True)


def _render_plans(verdict: Verdict, console: Console, catalog: Catalog) -> None:
    """Why the kept state is finite, for every bounded disjunct, each reason once."""
    shown: dict[Reason, None] = {}
    for disjunct in verdict.disjuncts:
        if isinstance(disjunct, Bounded):
            shown.update(dict.fromkeys(explain_bounded(disjunct.plan, verdict.union, catalog)))
    for reason in shown:
        _render_reason(reason, console, "  ", "  ")


def _shorten(reason: Reason) -> Reason:
    """A reason with the first ones of many that it follows from, as of a union of hundreds of
    tables."""
    because = tuple(map(_shorten, reason.because))
    if len(because) > _MANY_ALIKE:
        more = Reason(f"so it is for {len(because) - SHOWN:,} more (--verbose shows them)")
        because = (*because[:SHOWN], more)
    return replace(reason, because=because)


def _render_diagnostic(diagnostic: Diagnostic, console: Console, *, verbose: bool) -> None:
    place = "" if diagnostic.source is None else f" {short_place(diagnostic.source)}"
    head = Text(f"  {diagnostic.code}", style="bold")
    head.append(f"{place}: ", style="bold")
    head.append(diagnostic.message, style="not bold")
    console.print(head, soft_wrap=True)
    _render_labels(diagnostic, console, verbose=verbose)
    for reason in diagnostic.because:
        file = None if diagnostic.source is None else diagnostic.source.file
        _render_reason(reason if verbose else _shorten(reason), console, "    ", "    ", file)
    console.print(Text(f"    hint: {diagnostic.hint}", style="green"), soft_wrap=True)


def _render_labels(diagnostic: Diagnostic, console: Console, *, verbose: bool) -> None:
    """The marked lines of query, catalog and mappings to which the tree refers; of many that say
    the same, the first ones, unless `verbose`."""
    alike = Counter((label.source.file, label.text) for label in diagnostic.labels)
    told: Counter[tuple[str, str]] = Counter()
    lines: dict[tuple[str, int], list[tuple[Marked, Label]]] = {}
    for label in diagnostic.labels:
        kind = label.source.file, label.text
        told[kind] += 1
        if not verbose and alike[kind] > _MANY_ALIKE and told[kind] > SHOWN:
            continue
        marked = mark_label(label) if label.kind != "axiom" else None
        if marked is not None:
            lines.setdefault((label.source.file, marked.number), []).append((marked, label))
    width = max((len(str(number)) for _, number in lines), default=0)
    before = None if diagnostic.source is None else diagnostic.source.file
    for (file, number), marks in lines.items():
        if file != before:
            console.print(Text(f"    {short_place(Source(file))}", style="dim"), soft_wrap=True)
        before = file
        shown = f"    {str(number).rjust(width)} | {marks[0][0].text.rstrip()}"
        console.print(Text(shown, style="dim"), soft_wrap=True)
        for marked, label in marks:
            carets = Text()
            carets.append(f"    {' ' * width} | {' ' * (marked.column - 1)}", style="dim")
            carets.append("^" * max(marked.end_column - marked.column, 1), style="bold red")
            carets.append(f" {label.text}", style="red")
            console.print(carets, soft_wrap=True)


def _render_reason(
    reason: Reason, console: Console, first: str, rest: str, file: str | None = None
) -> None:
    """A reason and, under it, its own reasons; places in parentheses, in `file` only the line."""
    line = Text(f"{first}{reason.message}")
    if reason.label is not None:
        source = reason.label.source
        here = source.file == file and source.line is not None
        line.append(f" ({f'line {source.line}' if here else short_place(source)})", style="dim")
    console.print(line, soft_wrap=True)
    if reason.hint is not None:
        console.print(Text(f"{rest}   → {reason.hint}", style="green"), soft_wrap=True)
    last = len(reason.because) - 1
    for number, child in enumerate(reason.because):
        end = number == last
        branch, below = ("└─ ", "   ") if end else ("├─ ", "│  ")
        _render_reason(child, console, rest + branch, rest + below, file)


def short_place(source: Source) -> str:
    """A place, relative to the current folder where it is below it."""
    path = Path(source.file)
    try:
        shown = path.resolve().relative_to(Path.cwd())
    except ValueError:
        shown = path
    return str(Source(str(shown), source.line))
