"""Show a measurement as text for people."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.mappings.model.show_values import show_values
from ontoweir.measuring.describe_measurement import SHARES, mean_rate, show_instant
from ontoweir.measuring.measure_project import Measurement
from ontoweir.measuring.propose_lags import tell_lag
from ontoweir.measuring.write_declarations import show_lines

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredColumn, MeasuredStream

_MANY = 10
"""How busy a span is is told where spans have so many rows on average."""


def print_measurement(
    measurement: Measurement, catalog: Catalog, project: str, console: Console
) -> None:
    """Print a measurement.

    Args:
        measurement: what was measured.
        catalog: what is declared.
        project: the text of the project file.
        console: where to.
    """
    for name, measured in measurement.streams.items():
        console.print(f"[bold]{name}[/bold]  {measured.rows:,} rows{_span(measured)}")
        for label, text in tell_arrival(measured):
            console.print(f"  {label:<12}{text}", markup=False, soft_wrap=True)
        console.print(_columns(measured, catalog, name))
    for line in (*tell_lags(measurement), *tell_ratios(measurement)):
        console.print(line, markup=False, soft_wrap=True)
    _print_declarations(measurement, project, console)
    _print_queries(measurement, console)


def _span(measured: "MeasuredStream") -> str:
    if measured.first_us is None:
        return ", none with a timestamp"
    return f", {show_instant(measured.first_us)} to {show_instant(measured.last_us)}"


def tell_arrival(measured: "MeasuredStream") -> Iterator[tuple[str, str]]:
    """How the rows of a stream come: what is told, and about what."""
    late = measured.lateness
    count = late.count_late(0)
    if count:
        parts = [
            f"{share:.2%} by {about(late.quantile(share))}"
            for share in SHARES[1:]
            if late.quantile(share) < late.greatest_us
        ]
        shares = f"; of all rows {', '.join(parts)}" if parts else ""
        estimate = "" if late.exact else " (estimated, 1 % too great at most)"
        came = f"{count:,} rows ({count / max(late.total, 1):.1%}) come after a later timestamp"
        most = f"by {about(late.greatest_us)} at most"
        yield "lateness", f"{came}, {most}{shares}{estimate}"
    else:
        yield "lateness", "none: no row comes after a later timestamp"
    if measured.first_us is not None:
        gap = "" if measured.gap_us is None else f", {about(measured.gap_us)} apart at most"
        step = "" if measured.step_us is None else f"; all of {show_duration(measured.step_us)}"
        few = "no two" if measured.rate == 1 else f"at most {measured.rate:,}"
        yield "timestamps", f"{few} rows share one{gap}{step}"
    if (rate := _tell_rate(measured)) is not None:
        yield "rate", rate
    if measured.untimed:
        yield "without", f"{measured.untimed:,} rows have no timestamp"
    if measured.repeats:
        yield "repeated", f"{measured.repeats:,} rows repeat a declared key, and are not counted"
    if measured.left_out:
        yield "left out", f"{measured.left_out:,} rows came too late to be looked at further"
    for one in dict.fromkeys(a for a, _ in measured.determines):
        others = ", ".join(b for a, b in measured.determines if a == one)
        count = measured.columns[one].distinct or 0
        yield "depends", f"{one} determines {others} (each of its {count:,} values has one)"
    if not measured.every_pair:
        yield "depends", "of columns with many values it is not told what they determine"
    timed = measured.keys if measured.rate > 1 else ()
    keys = [*((n,) for n in measured.whole_keys), *((*k, "time") for k in timed)]
    if keys:
        yield "keys", ", ".join(f"({', '.join(key)})" for key in keys[:8])


def _tell_rate(measured: "MeasuredStream") -> str | None:
    """How many rows come in how much time (None: there are too few to tell)."""
    rates, mean = measured.rates, mean_rate(measured)
    if rates is None or mean is None:
        return None
    told = f"{mean:,.3g} rows a second"
    if sum(rates.counts) >= _MANY * len(rates.counts) > _MANY:
        told += f", {rates.busiest:,.3g} in the busiest {about(rates.width_us)}"
    if measured.rate > 1:
        half, most = rates.quantiles[:2]
        told += f"; {half:,} or less for half of the timestamps, {most:,} or less for 99 %"
    return told


def tell_lags(measurement: Measurement) -> Iterator[str]:
    """How long rows come after those that they join."""
    for join, found in measurement.lags.items():
        if found is None:
            both = f"{join.stream}.{join.column} and {join.behind}.{join.to}"
            yield f"{both}: not told, of too many values or of rows that were left out"
        elif found.values:
            half, most = about(found.quantiles[0]), about(found.quantiles[1])
            shares = f"; half of the values within {half}, 99 % within {most}"
            said = tell_lag(join, found.greatest_us, found)
            yield said + (shares if found.greatest_us else "")
        else:
            yield f"{join.stream}.{join.column} and {join.behind}.{join.to} have no value in common"


def tell_ratios(measurement: Measurement) -> Iterator[str]:
    """How many rows of a stream come for each of another."""
    for (one, other), found in measurement.ratios.items():
        spans = ""
        if found.least is not None and found.most is not None:
            spans = f"; {found.least:,.3g} to {found.most:,.3g} in spans of {about(found.width_us)}"
        alone = f"; in {found.alone:,} of {found.spans:,} such spans only one has rows"
        yield (
            f"{found.overall:,.3g} rows of {one} come for each of {other}{spans}"
            f"{alone if found.alone else ''}"
        )


def _columns(measured: "MeasuredStream", catalog: Catalog, name: str) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for title in ("column", "type", "NULL", "values", "which", "comes again"):
        table.add_column(title, overflow="fold", no_wrap=title not in ("column", "which"))
    for place in (2, 3, 5):
        table.columns[place].justify = "right"
    for column in catalog.streams[name].columns:
        found, kind = measured.columns.get(column.name), name_column_type(column.type)
        if found is None or found.nulls == measured.rows - measured.untimed:
            table.add_row(column.name, kind, "all")
            continue
        table.add_row(
            column.name,
            kind,
            f"{found.nulls:,}",
            "many" if found.distinct is None else f"{found.distinct:,}",
            tell_values(found, measured.references.get(column.name, ())),
            "" if not found.gap_us else f"within {about(found.gap_us)}",
        )
    return table


def tell_values(column: "MeasuredColumn", places: Sequence[tuple[str, str]]) -> str:
    """Which values a column has, in a few words."""
    shown = [f"all in {relation}.{name}" for relation, name in places]
    if column.minimum is not None and column.maximum is not None:
        shown.insert(0, f"{column.minimum}..{column.maximum}")
    elif column.values is not None:
        shown.insert(0, show_values(column.values))
    return ", ".join(shown)


def about(micros: int) -> str:
    """A duration, about."""
    for unit, size in reversed(UNITS_US.items()):
        if micros >= size:
            count = f"{micros / size:.1f}".removesuffix(".0")
            return f"{count} {unit}{'' if count == '1' else 's'}"
    return "0 seconds"


def _print_declarations(measurement: Measurement, project: str, console: Console) -> None:
    if not measurement.judged:
        known = any(m.first_us is not None for m in measurement.streams.values())
        said = "Everything that the data keeps is declared already." if known else "No rows."
        console.print(said)
        return
    console.print("[bold]What the data keeps, and is not declared[/bold]")
    for judged in measurement.judged:
        proposed = judged.proposed
        lost = f"; loses {proposed.loses:,} rows" if proposed.loses else ""
        console.print(f"\n  # {proposed.evidence}{lost}", markup=False, soft_wrap=True)
        for change in judged.changes:
            shown = tell_bound(change.after)
            console.print(
                f"  # {change.query}: {change.before.name} → {change.after.name}{shown}",
                markup=False,
                soft_wrap=True,
            )
        for line in show_lines(project, proposed.declared).split("\n"):
            console.print(f"  {line}", markup=False, soft_wrap=True)


def tell_bound(verdict: Verdict) -> str:
    """The bound of a verdict, behind it."""
    if verdict.bound is None:
        return ""
    rows = verdict.bound.rows
    return f" = {verdict.bound.formula}" if rows is None else f" ≤ {rows:,} rows"


def _print_queries(measurement: Measurement, console: Console) -> None:
    if not measurement.remedies:
        return
    bounded = sum(r.before.plans is not None for r in measurement.remedies)
    then = sum(r.after.plans is not None for r in measurement.remedies)
    total = len(measurement.remedies)
    console.print(
        f"\n{bounded} of {total} queries are bounded as declared, {then} with what the data keeps"
    )
    for remedy in measurement.remedies:
        if remedy.before.plans is not None:
            continue
        if not remedy.needed:
            console.print(
                f"  {remedy.query}: {remedy.before.name}; nothing that the data keeps bounds it "
                "(`ontoweir check` proposes other changes)",
                markup=False,
                soft_wrap=True,
            )
            continue
        shown = tell_bound(remedy.after)
        console.print(
            f"  {remedy.query}: {remedy.before.name} → {remedy.after.name}{shown}, if it is "
            f"declared that {'; '.join(p.evidence for p in remedy.needed)}",
            markup=False,
            soft_wrap=True,
        )
