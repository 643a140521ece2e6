"""A query's verdict, reasons, text, SQL, plan and graphs as a section of HTML."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ontoweir.checker.explain.blame_verdict import blame_verdict
from ontoweir.checker.explain.explain_bounded import explain_bounded
from ontoweir.checker.explain.explain_values import labels_of
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.partition.partition import show_partition
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
from ontoweir.draw.draw_comparison import draw_comparison
from ontoweir.draw.draw_dependency import draw_dependency
from ontoweir.draw.draw_svg import print_svg
from ontoweir.edit.describe_repairs import DescribedRepair, Edit, replaced_lines
from ontoweir.errors import Source
from ontoweir.files.mark_source import mark_label, mark_source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.refused_query import RefusedQuery
from ontoweir.report.describe_plan import describe_plan
from ontoweir.report.render_check import short_place
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.ties.note_ties import list_ties
from ontoweir.rewriter.windows.shows_set import shows_set


def show_tier(verdict: Verdict) -> str:
    """The tier, coloured by the verdict."""
    return f'<span class="verdict {verdict.name}">{escape(str(verdict.tier))}</span>'


def show_rows(verdict: Verdict) -> str:
    """The number of rows kept, in words."""
    if verdict.bound is None:
        return "no bound"
    return "finite" if verdict.bound.rows is None else f"≤ {verdict.bound.rows:,}"


def _name_semantics(union: SpjUnion) -> str:
    if not shows_set(union):
        return "bag"
    return "set (DISTINCT)" if union.aggregation is None else "set"  # of the matches


def render_query(
    verdict: Verdict, repairs: Sequence[DescribedRepair], number: int, catalog: Catalog
) -> str:
    """The section of a query: verdict, reasons, text, repairs, counterexample; of each disjunct
    SQL, plan and graphs. `number`: of the section on its page."""
    union = verdict.union
    catalog = extend_catalog(catalog, union)
    parts = [
        f'<section id="q{number}"><h2>{escape(union.name)}</h2>',
        f"<p>{show_tier(verdict)} · {_name_semantics(union)} semantics · "
        f"{show_rows(verdict)}{' rows' if verdict.bound else ''}"
        + (f" = <code>{escape(verdict.bound.formula)}</code>" if verdict.bound else "")
        + "</p>",
    ]
    if verdict.conditions:
        items = "".join(f"<li>{escape(c.text)}{_place(c.source)}</li>" for c in verdict.conditions)
        parts.append(f"<p>It rests on what the catalog declares:</p><ul>{items}</ul>")
    parts += [f"<p>{escape(_capital(said))}.</p>" for said in list_ties(union)]
    if verdict.partition is not None:
        parts.append(f"<p>{escape(_capital(show_partition(verdict.partition)))}.</p>")
    blame = blame_verdict(verdict, catalog)
    if blame is not None:
        parts.append(f'<div class="tree"><ul>{_reason(blame)}</ul></div>')
    causes: dict[Diagnostic, None] = {}
    whys: dict[Reason, None] = {}
    for d in verdict.disjuncts:
        match d:
            case Failing(because=because):
                causes.update(dict.fromkeys(because))
            case Bounded(plan=plan):
                whys.update(dict.fromkeys(explain_bounded(plan, union, catalog)))
            case Unsatisfiable():
                pass
    parts += [_diagnostic(d, verdict) for d in _distinct(causes)]
    if whys:
        file = None if union.source is None else union.source.file
        reasons = "".join(_reason(r, file) for r in whys)
        parts.append(
            f'<h3>Why what is kept is finite</h3><div class="tree"><ul>{reasons}</ul></div>'
        )
    labels = [label for d in causes for label in d.labels]
    parts.append(_text(union, [*labels, *labels_of(whys)]))
    parts.append(_repairs(repairs))
    if verdict.witness is not None:
        parts.append(_witness(verdict.witness))
    for n, disjunct in enumerate(verdict.disjuncts, 1):
        parts.append(_disjunct(verdict, disjunct, n, catalog))
    return "\n".join(p for p in [*parts, "</section>"] if p)


SHOW_REFUSED = '<span class="verdict refused">refused</span>'
"""Stands in the place of a tier."""


def render_refused_query(refused: RefusedQuery, number: int) -> str:
    """The section of a query without a verdict: the errors, with places and fixes."""
    error = refused.error
    return (
        f'<section id="q{number}"><h2>{escape(refused.name)}</h2>\n<p>{SHOW_REFUSED}</p>\n'
        f'<div class="diagnostic"><p>{escape(error.what)}{_place(error.source)}</p>'
        f'<p>{escape(error.why)}</p><p class="hint">{escape(error.fix)}</p></div>\n</section>'
    )


def _distinct(causes: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """Each sentence at each place once, with the first disjunct's tree."""
    distinct: dict[tuple[str, str, Source | None], Diagnostic] = {}
    for d in causes:
        distinct.setdefault((d.code, d.message, d.source), d)
    return distinct.values()


def _diagnostic(diagnostic: Diagnostic, verdict: Verdict) -> str:
    file = None if verdict.union.source is None else verdict.union.source.file
    reasons = "".join(_reason(r, file) for r in diagnostic.because)
    return (
        f'<div class="diagnostic {verdict.name if verdict.name == "undecided" else ""}">'
        f'<p><span class="code">{escape(diagnostic.code)}</span> {escape(diagnostic.message)}'
        f"{_place(diagnostic.source, file)}</p>{_snippets(diagnostic)}"
        f'<div class="tree"><ul>{reasons}</ul></div>'
        f'<p class="hint">{escape(diagnostic.hint)}</p></div>'
    )


def _snippets(diagnostic: Diagnostic) -> str:
    """The marked lines outside the query, whose text is shown whole."""
    snippets: dict[str, None] = {}
    for label in diagnostic.labels:
        marked = mark_label(label) if label.kind != "query" else None
        if marked is not None:
            text = marked.text.rstrip()
            a, b = marked.column - 1, marked.end_column - 1
            line = f"{escape(text[:a])}<mark>{escape(text[a:b])}</mark>{escape(text[b:])}"
            place = escape(short_place(label.source))
            snippets[
                f'<pre><span class="soft">{place}: {escape(label.text)}</span>\n{line}</pre>'
            ] = None
    if not snippets:
        return ""
    return f"<details><summary>the lines involved</summary>{''.join(snippets)}</details>"


def _reason(reason: Reason, file: str | None = None) -> str:
    place = "" if reason.label is None else _place(reason.label.source, file)
    hint = "" if reason.hint is None else f' <span class="hint">→ {escape(reason.hint)}</span>'
    text = f"{escape(reason.message)}{place}{hint}"
    if not reason.because:
        return f"<li>{text}</li>"
    inner = "".join(_reason(r, file) for r in reason.because)
    return f"<li><details open><summary>{text}</summary><ul>{inner}</ul></details></li>"


def _place(source: Source | None, file: str | None = None) -> str:
    """A place; in `file` its line alone."""
    if source is None:
        return ""
    near = source.file == file and source.line is not None
    shown = f"line {source.line}" if near else short_place(source)
    return f' <span class="place">{escape(shown)}</span>'


def _text(union: SpjUnion, labels: Sequence[Label]) -> str:
    """The query as written, with the marked parts of its lines."""
    if union.source is None:
        return ""
    try:
        lines = Path(union.source.file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    marks: dict[int, set[int]] = {}
    for label in labels:
        if label.source.file == union.source.file:
            marked = mark_source(label.source, label.mark)
            if marked is not None:
                marks.setdefault(marked.number, set()).update(range(marked.start, marked.stop))
    shown = "".join(
        f'<span class="line{" here" if n in marks else ""}" data-number="{n}">'
        f"{_marked(line, marks.get(n, set()))}</span>"
        for n, line in enumerate(lines[:-1] if lines and not lines[-1] else lines, 1)
    )
    return f'<h3>The query</h3><pre class="query">{shown}</pre>'


def _marked(line: str, columns: set[int]) -> str:
    """A line with its columns (from 1) marked, one `<mark>` for each run of columns."""
    parts: list[str] = []
    inside = False
    for column, character in enumerate(line, 1):
        if (column in columns) != inside:
            inside = not inside
            parts.append("<mark>" if inside else "</mark>")
        parts.append(escape(character))
    return "".join(parts) + ("</mark>" if inside else "")


def _repairs(repairs: Sequence[DescribedRepair]) -> str:
    """Each repair: the action, the verdict with it, and the lines to write."""
    if not repairs:
        return ""
    items = "".join(
        f"<li>{escape('; '.join(r.actions))} <span class=soft>→</span> {show_tier(r.verdict)} "
        f"{show_rows(r.verdict)}{''.join(map(_edit, r.edits))}</li>"
        for r in repairs
    )
    return f'<h3>Repairs</h3><ol class="repairs">{items}</ol>'


def _edit(edit: Edit) -> str:
    lines = [f"- {line}" for line in replaced_lines(edit)] + [f"+ {line}" for line in edit.lines]
    place = escape(short_place(edit.source))
    return f'<pre><span class="soft">{place}</span>\n{escape(chr(10).join(lines))}</pre>'


def _witness(witness: Witness) -> str:
    """The counterexample: a table of rows for each table, the optional ones and the suffixes."""
    optional = set(map(id, witness.optional))
    prefix = [
        (row, "optional" if id(row) in optional else "always")
        for row in (*witness.fixed, *witness.optional)
    ]
    suffixes = [(row, f"suffix {n}") for n, rows in enumerate(witness.suffixes, 1) for row in rows]
    return (
        f"<h3>A counterexample with {witness.size} tuples</h3>"
        f"<p>Of the {witness.size} optional tuples any may be there or not; each suffix tells "
        "whether one of them was. So all must be kept, and there may be any number of them.</p>"
        f"<details><summary>its rows</summary>{_tables([*prefix, *suffixes])}</details>"
    )


def _tables(rows: Sequence[tuple[WitnessRow, str]]) -> str:
    tables: dict[str, list[tuple[WitnessRow, str]]] = {}
    for row, role in rows:
        tables.setdefault(row.table, []).append((row, role))
    parts = []
    for table, mine in tables.items():
        columns = list(dict.fromkeys(name for row, _ in mine for name, _ in row.values))
        head = "".join(f"<th>{escape(c)}" for c in ["step", *columns, "role"])
        lines = ""
        for row, role in mine:
            values = dict(row.values)
            cells = ["" if row.step is None else row.step, *(values.get(c, "") for c in columns)]
            shown = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
            lines += f'<tr>{shown}<td class="soft">{escape(role)}</td></tr>'
        parts.append(
            f'<p>{escape(table)}</p><div class="wide"><table><tr>{head}</tr>{lines}</table></div>'
        )
    return "".join(parts)


def _tell_tier(verdict: Verdict, disjunct: DisjunctVerdict) -> str:
    """Of an unbounded query with several disjuncts that fail, each has no plan: that is all that is
    known of it."""
    tier = tier_within(verdict, disjunct)
    unknown = verdict.tier is Tier.UNBOUNDED and tier is Tier.UNDECIDED
    return "no plan in bounded memory" if unknown else str(tier)


def _disjunct(verdict: Verdict, disjunct: DisjunctVerdict, number: int, catalog: Catalog) -> str:
    union, count = verdict.union, len(verdict.disjuncts)
    query: SpjQuery = disjunct.query
    single = SpjUnion(union.name, union.variables, (query,), union.distinct, union.source)
    mappings = dict.fromkeys(p.shown for _, p in query.provenance)
    used = f" · {', '.join(mappings)}" if mappings else ""
    title = "SQL, plan and graphs" if count == 1 else f"SQL {number} of {count}"
    plan = ""
    if isinstance(disjunct, Bounded):
        plan = f"<h3>Plan</h3><pre>{escape(chr(10).join(describe_plan(disjunct.plan)))}</pre>"
    form = normalise_query(query, distinct=union.distinct, catalog=catalog)
    dependency = print_svg(draw_dependency(form), f"dependency graph {number}")
    compared = draw_comparison(form, catalog)
    comparison = ""
    if compared is not None:
        comparison = (
            "<h3>What is compared</h3><p class=soft>The lesser above. Dashed: implied by the rest. "
            f'Red: unbounded.</p><div class="wide">{print_svg(compared, "comparison graph")}</div>'
        )
    return (
        f"<details><summary>{title} · {_tell_tier(verdict, disjunct)}"
        f"<span class=soft>{escape(used)}</span></summary>"
        f"<pre>{escape(print_sql(single, catalog, comments=False, short=False))}</pre>{plan}"
        "<h3>Streams in time</h3><p class=soft>The earlier above.</p>"
        f'<div class="wide">{dependency}</div>{comparison}</details>'
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
