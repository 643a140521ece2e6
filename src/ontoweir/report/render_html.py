"""Verdicts as one self-contained HTML page: no script, no foreign host, everything escaped."""

from collections.abc import Mapping, Sequence
from html import escape

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.refused_query import RefusedQuery
from ontoweir.report.render_html_query import (
    SHOW_REFUSED,
    render_query,
    render_refused_query,
    show_rows,
    show_tier,
)
from ontoweir.report.wrap_page import wrap_page


def render_html(
    verdicts: Sequence[Verdict | RefusedQuery],
    catalog: Catalog,
    *,
    title: str,
    repairs: Sequence[Sequence[DescribedRepair]],
    warnings: Sequence[str] = (),
    live: Mapping[str, str] | None = None,
) -> str:
    """The report: a summary, then each query with its verdict, reasons, text, SQL, plan and graphs.

    Args:
        verdicts: verdicts and refusals, in the order to show.
        catalog: the tables of the queries.
        title: the page's heading.
        repairs: those of each verdict.
        warnings: the warnings about the input.
        live: sections on how queries run, by name; those of other queries come last.
    """
    running = dict(live or {})
    body = [f"<h1>{escape(title)}</h1>", _summary(verdicts)]
    if warnings:
        items = "".join(f"<li>{escape(w)}</li>" for w in warnings)
        body.append(
            f"<details><summary>{len(warnings)} warnings</summary><ul>{items}</ul></details>"
        )
    mended = zip(verdicts, repairs, strict=True)
    for number, (verdict, mending) in enumerate(mended, 1):
        if isinstance(verdict, RefusedQuery):
            body.append(render_refused_query(verdict, number))
        else:
            body.append(render_query(verdict, mending, number, catalog))
        body.append(running.pop(_name(verdict), ""))
    body = [part for part in [*body, *running.values()] if part]
    return wrap_page(title, body)


def _name(verdict: Verdict | RefusedQuery) -> str:
    return verdict.name if isinstance(verdict, RefusedQuery) else verdict.union.name


def _cells(verdict: Verdict | RefusedQuery) -> str:
    if isinstance(verdict, RefusedQuery):
        cells = f'{SHOW_REFUSED}</td><td></td><td class="formula soft">{escape(verdict.error.what)}'
        return f"<td>{cells}</td>"
    formula = escape(verdict.bound.formula if verdict.bound else "")
    return (
        f"<td>{show_tier(verdict)}</td><td class=number>{show_rows(verdict)}</td>"
        f'<td class="formula soft">{formula}</td>'
    )


def _summary(verdicts: Sequence[Verdict | RefusedQuery]) -> str:
    rows = "".join(
        f'<tr><td><a href="#q{n}">{escape(_name(v))}</a></td>{_cells(v)}</tr>'
        for n, v in enumerate(verdicts, 1)
    )
    head = "<tr><th>query<th>verdict<th>rows kept<th class=formula>at most</tr>"
    return f'<div class="wide"><table class="summary">{head}{rows}</table></div>'
