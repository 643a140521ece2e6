"""A measurement as one self-contained HTML page."""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ontoweir.draw.draw_chart import Chart, Series, draw_chart
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.measuring.measure_project import Judged, Measurement, Remedy
from ontoweir.measuring.show_measurement import (
    about,
    tell_arrival,
    tell_bound,
    tell_lags,
    tell_ratios,
    tell_values,
)
from ontoweir.measuring.write_declarations import show_lines
from ontoweir.report.wrap_page import wrap_page

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredLateness, MeasuredStream


def render_measurement(measurement: Measurement, catalog: Catalog, project: str, title: str) -> str:
    """The page: the streams with their columns and a plot of what each lateness would lose, what
    could be declared, and what each query needs.

    Args:
        measurement: what was measured.
        catalog: what is declared.
        project: the text of the project file.
        title: the page's heading.
    """
    parts = [f"<h1>{escape(title)}: what the data keeps</h1>", *_remedies(measurement)]
    for name, measured in measurement.streams.items():
        parts += _stream(name, measured, catalog)
    for title_of, told in (
        ("How long after one another rows come", tell_lags(measurement)),
        ("How many rows come for each of another stream", tell_ratios(measurement)),
    ):
        lines = "".join(f"<li>{escape(line)}</li>" for line in told)
        if lines:
            parts.append(f"<section><h2>{title_of}</h2><ul>{lines}</ul></section>")
    if measurement.judged:
        parts.append("<section><h2>What could be declared</h2>")
        parts += [_judged(judged, project) for judged in measurement.judged]
        parts.append("</section>")
    return wrap_page(title, parts)


def _remedies(measurement: Measurement) -> Iterator[str]:
    if not measurement.remedies:
        return
    yield '<div class="wide"><table><tr><th>query</th><th>as declared</th><th>then</th></tr>'
    for remedy in measurement.remedies:
        yield _remedy(remedy)
    yield "</table></div>"


def _remedy(remedy: Remedy) -> str:
    before, after = remedy.before, remedy.after
    then = ""
    if remedy.needed:
        needs = "; ".join(p.evidence for p in remedy.needed)
        then = (
            f'<span class="verdict {after.name}">{after.name}</span>{escape(tell_bound(after))}, '
            f"if it is declared that {escape(needs)}"
        )
    elif before.plans is None:
        then = "nothing that the data keeps bounds it"
    bound = escape(tell_bound(before)) if before.plans is not None else ""
    return (
        f'<tr><td>{escape(remedy.query)}</td><td><span class="verdict {before.name}">'
        f"{before.name}</span>{bound}</td><td>{then}</td></tr>"
    )


def _stream(name: str, measured: "MeasuredStream", catalog: Catalog) -> Iterator[str]:
    yield f"<section><h2>{escape(name)}, {measured.rows:,} rows</h2>"
    for label, text in tell_arrival(measured):
        yield f"<p><b>{escape(label)}</b> {escape(text)}</p>"
    if measured.lateness.greatest_us:
        yield draw_chart(_plot(measured.lateness))
    heads = ("column", "type", "NULL", "values", "which", "comes again")
    yield '<div class="wide"><table><tr>' + "".join(f"<th>{h}</th>" for h in heads) + "</tr>"
    for column in catalog.streams[name].columns:
        found, kind = measured.columns.get(column.name), name_column_type(column.type)
        cells = [column.name, kind, "all"]
        if found is not None and found.nulls < measured.rows - measured.untimed:
            cells = [
                column.name,
                kind,
                f"{found.nulls:,}",
                "many" if found.distinct is None else f"{found.distinct:,}",
                tell_values(found, measured.references.get(column.name, ())),
                "" if not found.gap_us else f"within {about(found.gap_us)}",
            ]
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    yield "</table></div></section>"


def _plot(lateness: "MeasuredLateness") -> Chart:
    """How many rows each lateness would lose."""
    points = [(0.0, float(lateness.count_late(0)))]
    left = lateness.count_late(0)
    for delay, rows in zip(lateness.delays[1:], lateness.rows[1:], strict=True):
        points.append((delay / 1e6, float(left)))
        left -= rows
        points.append((delay / 1e6, float(left)))
    return Chart(
        "Late rows",
        "the rows that each lateness would lose",
        "lateness, seconds",
        "late rows",
        (Series("rows", tuple(points)),),
    )


def _judged(judged: Judged, project: str) -> str:
    proposed = judged.proposed
    lost = f"; loses {proposed.loses:,} rows" if proposed.loses else ""
    changes = "".join(
        f'<li>{escape(c.query)}: <span class="verdict {c.before.name}">{c.before.name}</span> → '
        f'<span class="verdict {c.after.name}">{c.after.name}</span>'
        f"{escape(tell_bound(c.after))}</li>"
        for c in judged.changes
    )
    listed = f"<ul>{changes}</ul>" if changes else ""
    lines = escape(show_lines(project, proposed.declared))
    return f"<p>{escape(proposed.evidence)}{lost}</p>{listed}<pre>{lines}</pre>"
