"""The pages of answers and of rejected rows, the same as JSON, downloads, and events."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Semaphore
from typing import TYPE_CHECKING, Literal

from flask import Flask, Response, abort, jsonify, render_template, request
from markupsafe import Markup

from ontoweir.answers.show_rows import show_type
from ontoweir.answers.write_rows import show_cell, write_rows
from ontoweir.dashboard.rows.find_rows import Kind, find_rows
from ontoweir.dashboard.rows.follow_rows import follow_rows
from ontoweir.dashboard.rows.page_rows import Look, RowPage, all_rows, page_rows, read_look
from ontoweir.dashboard.site import Site
from ontoweir.draw.chart_rows import chart_rows, guess_number, list_numbers
from ontoweir.draw.draw_chart import draw_chart
from ontoweir.draw.draw_map import draw_map, find_places, is_coordinate
from ontoweir.errors import OntoweirError, Source, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

FOLLOWERS = 4
"""Connections that are told of rows at once; each takes a thread of the server."""
_KINDS: tuple[Kind, ...] = ("answers", "rejects")


def add_rows(app: Flask, site: Site, known: Callable[[str], bool], closing: Event) -> None:
    """Add the pages and the API of rows.

    Args:
        app: the application.
        site: where runs write.
        known: whether a query of a name is in the project, is registered, or ran.
        closing: is set when the server ends.
    """
    for kind in _KINDS:
        _add_page(app, site, known, kind)
        _add_api(app, site, known, kind)
    _add_events(app, site, known, closing)


def _add_page(app: Flask, site: Site, known: Callable[[str], bool], kind: Kind) -> None:
    @app.get(f"/{kind}", endpoint=f"{kind}_page")
    def show() -> tuple[str, int]:
        name, folder = _find(site, known, kind)
        page, look, problem, chart = None, Look(), None, ""
        try:
            look = read_look(request.args)
            page = None if folder is None else page_rows(folder, look)
            chart = _chart(page, name, look.chart) if kind == "answers" else ""
        except OntoweirError as error:
            problem = str(error)
            look = Look(request.args.get("where"), request.args.get("sort"))
            page = None
        shown = render_template(
            "rows.html",
            name=name,
            kind=kind,
            page=page,
            look=look,
            cells=None if page is None else _cells(page),
            fields=[] if page is None else _fields(page),
            sort=_split_sort(None if page is None else page.sort),
            chart=Markup(chart),
            numbers=_numbers(page) if kind == "answers" else [],
            charted=None if page is None else _charted(page, look.chart),
            map=Markup(_map(page, name)) if kind == "answers" else "",
            problem=problem,
        )
        return shown, 200 if problem is None else 422


def _add_api(app: Flask, site: Site, known: Callable[[str], bool], kind: Kind) -> None:
    @app.get(f"/api/{kind}", endpoint=f"api_{kind}")
    def as_json() -> Response:
        name, folder = _find(site, known, kind)
        look = read_look(request.args)
        page = RowPage.none() if folder is None else page_rows(folder, look)
        drawn = asks_charts() and kind == "answers"
        chart = _chart(page, name, look.chart) if drawn else ""
        pictures = {"chart": chart, "map": _map(page, name) if drawn else ""}
        found = {k: v for k, v in pictures.items() if v}
        return jsonify(query=name, **page.describe(), **found)

    @app.get(f"/api/{kind}.<any(csv, jsonl):form>", endpoint=f"api_{kind}_file")
    def as_file(form: Literal["csv", "jsonl"]) -> Response:
        _, folder = _find(site, known, kind)
        look = read_look(request.args)
        media = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
        parts = iter(()) if folder is None else _written(folder, look, form)
        first = next(parts, "")  # what is wrong is said before anything is sent

        def write() -> Iterator[str]:
            yield first
            yield from parts

        answer = Response(write(), content_type=media)
        answer.headers["Content-Disposition"] = f'attachment; filename="{kind}.{form}"'
        return answer


def _add_events(app: Flask, site: Site, known: Callable[[str], bool], closing: Event) -> None:
    free = Semaphore(FOLLOWERS)

    @app.get("/api/answers/events")
    def follow() -> Response:
        _, folder = _find(site, known, "answers")
        if folder is None:
            return _later("no run has written answers of it yet")
        where = request.args.get("where", "").strip() or None
        events = follow_rows(folder, request.headers.get("Last-Event-ID"), where, closing)
        page_rows(folder, Look(where, limit=1))  # what is wrong with the condition is said now
        if not free.acquire(blocking=False):
            return _later(f"{FOLLOWERS} connections are told of rows already")
        answer = Response(events, content_type="text/event-stream; charset=utf-8")
        answer.call_on_close(free.release)
        return answer


def say_unknown(name: str) -> str:
    """What is answered of a query that there is not."""
    return f"there is no query {name!r}" if name else "no query is named: add ?name=…"


def asks_charts() -> bool:
    """Whether a request asks for charts.

    Raises:
        UsageError: it says neither that it does nor that it does not.
    """
    given = request.args.get("charts", "0")
    if given not in ("0", "1"):
        why = "charts as SVG are asked for by 1"
        raise UsageError(f"charts={given!r} is neither 0 nor 1", why=why, fix="write charts=1")
    return given == "1"


def _later(text: str) -> Response:
    answer = jsonify(error=text)
    answer.status_code = 503
    answer.headers["Retry-After"] = "5"
    return answer


def _find(site: Site, known: Callable[[str], bool], kind: Kind) -> tuple[str, Path | None]:
    """The query of a request, and the folder of its rows, if there is one."""
    name = request.args.get("name", "")
    if not known(name):
        abort(404, description=say_unknown(name))
    return name, find_rows(site, name, kind)


def _written(folder: Path, look: Look, form: Literal["csv", "jsonl"]) -> Iterator[str]:
    head = True
    for table in all_rows(folder, look):
        text = io.StringIO()
        write_rows(table, form, text, head=head)
        head = False
        yield text.getvalue()


def _cells(page: RowPage) -> list[list[str | None]]:
    rows = page.rows.to_pylist()
    return [[None if v is None else show_cell(v) for v in row.values()] for row in rows]


def _fields(page: RowPage) -> list[dict[str, str]]:
    """The columns: name, type, and the `kind` that says how cells are aligned."""
    from pyarrow import types

    def kind_of(shown: "pa.DataType") -> str:
        if types.is_integer(shown) or types.is_floating(shown) or types.is_decimal(shown):
            return "number"
        return "time" if types.is_timestamp(shown) else ""

    return [
        {"name": f.name, "type": show_type(f.type), "kind": kind_of(f.type)}
        for f in page.rows.schema
    ]


def _split_sort(sort: str | None) -> tuple[str, bool]:
    """The column that rows are sorted by, and whether from the greatest down."""
    name, _, way = (sort or "").strip().rpartition(" ")
    return (name.strip(), True) if name and way.upper() == "DESC" else ((sort or "").strip(), False)


def _map(page: RowPage | None, name: str) -> str:
    """Where the answers shown are; empty where they do not say."""
    places = [] if page is None else find_places(page.rows)
    return draw_map(places, name) if places else ""


def _numbers(page: RowPage | None) -> list[str]:
    """The columns that can be charted; coordinates are on the map."""
    numbers = [] if page is None else list_numbers(page.rows)
    return [n for n in numbers if not is_coordinate(n)]


def _charted(page: RowPage, wanted: str | None) -> str | None:
    """The column that is charted (None: there is none)."""
    return wanted or guess_number(page.rows, _numbers(page))


def _chart(page: RowPage | None, name: str, wanted: str | None) -> str:
    """A number of the answers shown, over time; empty where there is none.

    Raises:
        UsageError: a column is wanted that is none of numbers.
    """
    if page is None or not page.rows.num_columns:
        return ""
    number, numbers = _charted(page, wanted), list_numbers(page.rows)
    if number is None:
        return ""
    if number not in numbers:
        raise UsageError(
            f"chart={number!r} is no column of numbers",
            why="a chart is of a number over time",
            fix=f"ask for {' or '.join(numbers)}" if numbers else "leave it out",
            source=Source("chart"),
        )
    chart = chart_rows(page.rows, name, number)
    return "" if chart is None else draw_chart(chart)
