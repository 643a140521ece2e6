"""How a query runs, or ran, as a section of a page that stays as it is: for `report --live`."""

from html import escape

from ontoweir.dashboard.describe_run import chart_state, chart_throughput
from ontoweir.dashboard.read_runs import Moment, Run
from ontoweir.dashboard.show_numbers import show_count, show_lag, show_moment, show_stamp
from ontoweir.draw.draw_chart import draw_chart


def render_run(run: Run) -> str:
    """State against its bound, throughput, synopses, rejected tuples; everything escaped."""
    last = run.last
    parts = [f"<section><h2>{escape(run.name)}: how it runs</h2>"]
    facts = [escape(run.status)]
    if last is not None:
        facts += [
            f"{show_count(last.rows)} of {show_count(last.bound)} rows kept",
            f"{show_count(last.tuples)} tuples, {show_count(last.results)} results, "
            f"{show_count(last.rejected)} rejected" + (" (of the whole run)" if run.shared else ""),
            f"data up to {escape(show_stamp(last.finished))}",
            f"{show_lag(last.lag)} behind the clock",
            f"last micro-batch {show_moment(last.at)} UTC",
        ]
    parts.append(f"<p>{' · '.join(facts)}</p>")
    if run.error is not None:
        parts.append(f'<p class="diagnostic">{escape(run.error)}</p>')
    if last is not None:
        for chart in (chart_state(run.name, run.moments), chart_throughput(run.name, run.moments)):
            parts.append(f'<div class="wide">{draw_chart(chart)}</div>')
        parts += [_synopses(last), _rejects(last)]
    return "\n".join(p for p in [*parts, "</section>"] if p)


def _synopses(last: Moment) -> str:
    if not last.synopses:
        return ""
    rows = "".join(
        f"<tr><td>{escape(s.name)}</td><td class=number>{show_count(s.rows)}</td>"
        f"<td class=number>{show_count(s.bound)}</td><td class=soft>{escape(s.formula)}</td></tr>"
        for s in last.synopses
    )
    head = "<tr><th>synopsis<th>rows<th>at most<th>because</tr>"
    return f'<div class="wide"><table>{head}{rows}</table></div>'


def _rejects(last: Moment) -> str:
    if not last.rejects:
        return ""
    rows = "".join(
        f"<tr><td>{escape(reason)}</td><td class=number>{show_count(count)}</td></tr>"
        for reason, count in sorted(last.rejects.items())
    )
    return f'<div class="wide"><table><tr><th>rejected because<th>tuples</tr>{rows}</table></div>'
