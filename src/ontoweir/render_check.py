"""Verdicts as text for people."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ontoweir.checker.verdict import Bounded, Failing, Tier, Verdict
from ontoweir.diagnostics import Diagnostic
from ontoweir.errors import Source

_STYLE = {
    Tier.UNBOUNDED: "bold red",
    Tier.UNDECIDED: "bold yellow",
    Tier.CONDITIONALLY_BOUNDED: "bold cyan",
    Tier.UNSATISFIABLE: "dim",
}


def render_check(verdicts: list[Verdict], console: Console, *, verbose: bool = False) -> None:
    """Print verdicts: one line each, what it rests on, and why not where it fails."""
    width = max((len(v.union.name) for v in verdicts), default=0)
    for verdict in verdicts:
        _render(verdict, console, width, verbose)
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict.name] = counts.get(verdict.name, 0) + 1
    if len(verdicts) > 1:
        total = ", ".join(f"{n} {name}" for name, n in counts.items())
        console.print(Text(f"{len(verdicts)} queries: {total}", style="bold"))


def _render(verdict: Verdict, console: Console, width: int, verbose: bool) -> None:
    style = _STYLE.get(verdict.tier, "bold green")
    line = Text(verdict.union.name.ljust(width + 2))
    line.append("set  " if verdict.union.distinct else "bag  ", style="dim")
    line.append(str(verdict.tier).ljust(22), style=style)
    if verdict.bound is not None and verdict.tier is not Tier.UNSATISFIABLE:
        rows = verdict.bound.rows
        line.append("finite" if rows is None else f"≤ {rows:,} rows")
        if verdict.bound.formula not in ("0", "1"):
            line.append(f"  = {verdict.bound.formula}", style="dim")
    elif verdict.witness is not None:
        line.append(f"a counterexample with {verdict.witness.size} tuples is confirmed")
    console.print(line, soft_wrap=True)
    for condition in verdict.conditions:
        console.print(Text(f"  rests on {condition.text}", style="cyan"), soft_wrap=True)
    if verbose:
        _render_criteria(verdict, console)
    seen: set[tuple[str, str, Source | None]] = set()
    for disjunct in verdict.disjuncts:
        if not isinstance(disjunct, Failing):
            continue
        for diagnostic in disjunct.because:
            key = (diagnostic.code, diagnostic.message, diagnostic.source)
            if key not in seen:
                seen.add(key)
                _render_diagnostic(diagnostic, console)


def _render_criteria(verdict: Verdict, console: Console) -> None:
    for number, disjunct in enumerate(verdict.disjuncts, 1):
        if not isinstance(disjunct, Bounded | Failing):
            console.print(Text(f"  SQL {number}: selects nothing", style="dim"))
            continue
        criteria = disjunct.criteria
        published = criteria.published_set or criteria.tree
        parts = [criteria.arasu, published, criteria.lag]
        told = "; ".join(
            f"{c.name} {'holds' if c.holds else 'fails ' + ', '.join(c.failed)}" for c in parts
        )
        console.print(Text(f"  SQL {number}: {told}", style="dim"), soft_wrap=True)


def _render_diagnostic(diagnostic: Diagnostic, console: Console) -> None:
    place = "" if diagnostic.source is None else f" {_short(diagnostic.source)}"
    head = Text(f"  {diagnostic.code}", style="bold")
    head.append(f"{place}: ", style="bold")
    head.append(diagnostic.message, style="not bold")
    console.print(head, soft_wrap=True)
    text = None if diagnostic.source is None else _line(diagnostic.source)
    if text is not None and diagnostic.source is not None:
        console.print(Text(f"    {diagnostic.source.line} | {text}", style="dim"), soft_wrap=True)
    if diagnostic.mapping is not None:
        where = (
            "" if diagnostic.mapping_source is None else f" ({_short(diagnostic.mapping_source)})"
        )
        console.print(Text(f"    mapping: {diagnostic.mapping}{where}"), soft_wrap=True)
    if diagnostic.axiom is not None:
        where = "" if diagnostic.axiom_source is None else f" ({_short(diagnostic.axiom_source)})"
        console.print(Text(f"    axiom: {diagnostic.axiom}{where}"), soft_wrap=True)
    console.print(Text(f"    hint: {diagnostic.hint}", style="green"), soft_wrap=True)


def _short(source: Source) -> str:
    """A place, relative to the current folder where it is below it."""
    path = Path(source.file)
    try:
        shown = path.resolve().relative_to(Path.cwd())
    except ValueError:
        shown = path
    return str(Source(str(shown), source.line))


def _line(source: Source) -> str | None:
    if source.line is None:
        return None
    try:
        return Path(source.file).read_text(encoding="utf-8").splitlines()[source.line - 1].rstrip()
    except (OSError, IndexError, UnicodeDecodeError):
        return None
