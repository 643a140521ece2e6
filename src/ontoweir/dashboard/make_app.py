"""The dashboard as a WSGI application: pages, and the same as JSON."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from threading import Event
from typing import Any, cast

from flask import (
    Flask,
    Response,
    abort,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
)
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from ontoweir import __version__
from ontoweir.dashboard.access.guard_requests import HEADERS, allow_host, allow_origin
from ontoweir.dashboard.access.hold_token import COOKIE, Asked, allow_token, strip_token
from ontoweir.dashboard.access.read_body import TYPED, read_object
from ontoweir.dashboard.changes.add_changes import add_changes
from ontoweir.dashboard.check_queries import Checks, Outcome
from ontoweir.dashboard.describe_api import describe_api
from ontoweir.dashboard.describe_run import chart_state, chart_throughput, describe_run
from ontoweir.dashboard.list_queries import list_queries
from ontoweir.dashboard.read_runs import MAX_BATCHES, Run, read_runs
from ontoweir.dashboard.rows.add_rows import add_rows, asks_charts, say_unknown
from ontoweir.dashboard.rows.find_rows import find_rows
from ontoweir.dashboard.show_metrics import find_broken, show_metrics
from ontoweir.dashboard.show_numbers import FILTERS
from ontoweir.dashboard.site import Site
from ontoweir.dashboard.steps.show_steps import show_steps
from ontoweir.dashboard.steps.view_step import describe_steps
from ontoweir.draw.draw_chart import draw_chart
from ontoweir.errors import OntoweirError
from ontoweir.lint.lint_mappings import PROBES
from ontoweir.lint.render_lint import describe_lint
from ontoweir.project.language_of import Language
from ontoweir.report.render_html_style import PAGE_STYLE

_BODY = 1 << 18
"""Bytes of a request's body, at most."""


def make_app(site: Site, checks: Checks, closing: Event | None = None) -> Flask:
    """Make the application.

    Args:
        site: what it shows.
        checks: where verdicts come from.
        closing: is set when the server ends.
    """
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = _BODY
    app.config["MAX_FORM_MEMORY_SIZE"] = _BODY
    app.jinja_env.filters.update(FILTERS, near=lambda file: _near(file, site))
    app.jinja_env.globals.update(version=__version__, site=site, project=_title(site))
    _guard(app, site)
    _add_files(app)
    _add_pages(app, site, checks)
    _add_api(app, site, checks)
    _add_metrics(app, site)
    if site.changes:
        add_changes(app, site, checks)
    add_rows(app, site, lambda name: _is_known(checks, site, name), closing or Event())
    return app


def _title(site: Site) -> str:
    folder = site.project if site.project.is_dir() else site.project.parent
    return folder.resolve().name or "project"


def _near(file: str, site: Site) -> str:
    """A file as seen from the project's folder."""
    folder = site.project if site.project.is_dir() else site.project.parent
    try:
        return str(Path(file).resolve().relative_to(folder.resolve()))
    except ValueError:
        return file


def _guard(app: Flask, site: Site) -> None:
    """Refuse strangers before, and add what answers may do after; show errors as such."""

    @app.before_request
    def check() -> Response | None:
        if not allow_host(request.headers.get("Host"), site.host):
            return Response("unknown host\n", 421, mimetype="text/plain")
        if request.method == "POST" and not allow_origin(
            request.headers.get("Origin"),
            request.headers.get("Sec-Fetch-Site"),
            request.headers.get("Host"),
        ):
            return Response("not from this page\n", 403, mimetype="text/plain")
        return _ask_token(site)

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    @app.errorhandler(OntoweirError)
    def show_error(error: OntoweirError) -> tuple[str | Response, int]:
        return _fail(str(error), 422)

    @app.errorhandler(HTTPException)
    def show_http(error: HTTPException) -> Response:
        code = error.code or 500
        messages = {404: "there is no such page", 413: f"more than {_BODY:,} bytes; shorten it"}
        named = error.description != type(error).description
        text, _ = _fail(
            (named and error.description) or messages.get(code, error.name.lower()), code
        )
        answer = make_response(text, code)
        if isinstance(error, MethodNotAllowed):
            answer.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        return answer

    @app.errorhandler(Exception)
    def show_bug(error: Exception) -> tuple[str | Response, int]:
        text = " ".join(f"internal error: {error}".split())
        return _fail(f"{text}; this is a bug in ontoweir, not in your input; report it", 500)


def _ask_token(site: Site) -> Response | None:
    """Refuse who does not know the token; take it out of an address, into a cookie."""
    argument = request.args.get("token")
    header, cookie = request.headers.get("Authorization"), request.cookies.get(COOKIE)
    if not allow_token(site.token, Asked(request.path, header, cookie, argument)):
        text = "a token is needed: open the address that the server has printed"
        answer = make_response(*_fail(text, 401))
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer
    if site.token is None or argument is None or request.path.startswith("/api/"):
        return None
    onward = redirect(strip_token(request.path, request.args), 303)
    onward.set_cookie(COOKIE, site.token, httponly=True, samesite="Strict")
    return make_response(onward)


def _fail(text: str, code: int) -> tuple[str | Response, int]:
    if request.path.startswith("/api/"):
        return jsonify(error=text), code
    return render_template("error.html", text=text), code


def _is_known(checks: Checks, site: Site, name: str) -> bool:
    return name in _runs(site) or name in checks.names()


def _add_files(app: Flask) -> None:
    @app.get("/style.css")
    def style() -> Response:
        page = render_template("style.css")
        return Response(PAGE_STYLE + page, mimetype="text/css")


def _add_pages(app: Flask, site: Site, checks: Checks) -> None:
    @app.get("/")
    def overview() -> str:
        listed, problem = list_queries(checks, _runs(site))
        return render_template("overview.html", queries=listed, problem=problem)

    @app.get("/query")
    def query() -> str:
        name = request.args.get("name", "")
        run = _runs(site, MAX_BATCHES).get(name)
        outcome, text, language = _find(checks, run, name)
        return render_template(
            "query.html",
            name=name,
            outcome=outcome,
            section=Markup(_under_its_name(outcome)),
            text=text,
            language=language,
            run=describe_run(run),
            found=[k for k in ("answers", "rejects") if find_rows(site, name, k) is not None],
            charts={k: Markup(v) for k, v in _charts(run, name).items()},
        )

    @app.get("/compare")
    def compare() -> str:
        runs = _runs(site, MAX_BATCHES)
        listed, _ = list_queries(checks, runs)
        shown = _beside(listed, runs, request.args.getlist("name"))
        for one in shown:
            one["chart"] = Markup(one["chart"])
        names, asked = [q["query"] for q in listed], [q["query"] for q in shown]
        return render_template("compare.html", shown=shown, names=names, asked=asked)

    @app.get("/mappings")
    def mappings() -> str:
        lints = describe_lint(checks.lints())
        wrong = checks.refusals()
        return render_template("mappings.html", lints=lints, probes=PROBES, refusals=wrong)

    @app.get("/playground")
    def playground() -> str:
        name = request.args.get("query", "")
        run = _runs(site).get(name) if name else None
        names = checks.names()
        text, language = _text(checks, run, name or next(iter(names), ""))
        return render_template("playground.html", text=text or "", language=language, names=names)

    @app.post("/playground")
    def check_typed() -> tuple[str, int]:
        text, language = _typed(request.form, site)
        outcome = checks.text(text, language)
        asked = request.form.get("do", "check")
        steps = {}
        if asked != "check" and outcome.error is None:
            steps = show_steps(
                request.form, lambda: checks.steps(text, language, again=asked == "replay")
            )
        page = render_template(
            "playground.html",
            text=text,
            language=language,
            names=checks.names(),
            outcome=outcome,
            section=Markup(outcome.section),
            **steps,
        )
        return page, 200 if outcome.error is None and not steps.get("unplayed") else 422


def _add_api(app: Flask, site: Site, checks: Checks) -> None:
    @app.get("/api/overview")
    def api_overview() -> Response:
        names = request.args.getlist("name")
        runs = _runs(site, MAX_BATCHES if names else 1)
        listed, problem = list_queries(checks, runs)
        return jsonify(queries=_beside(listed, runs, names) if names else listed, problem=problem)

    @app.get("/api/query")
    def api_query() -> Response:
        name, drawn = request.args.get("name", ""), asks_charts()
        run = _runs(site, MAX_BATCHES if drawn else 1).get(name)
        if run is None and name not in checks.names():
            abort(404, description=say_unknown(name))
        charts = _charts(run, name) if drawn else {}
        return jsonify(query=name, **describe_run(run), charts=charts)

    @app.get("/api/mappings")
    def api_mappings() -> Response:
        return jsonify(describe_lint(checks.lints()))

    @app.get("/api/openapi.json")
    def api_description() -> Response:
        return jsonify(describe_api(changes=site.changes))

    @app.post("/api/check")
    def api_check() -> tuple[Response, int]:
        text, language = _typed(read_object(), site)
        outcome = checks.text(text, language)
        if outcome.summary is None:
            return jsonify(error=outcome.error, line=outcome.line), 422
        return jsonify(outcome.summary), 200

    @app.post("/api/replay")
    def api_replay() -> tuple[Response, int]:
        text, language = _typed(read_object(), site)
        return jsonify(describe_steps(checks.steps(text, language, again=True))), 200


def _add_metrics(app: Flask, site: Site) -> None:
    @app.get("/metrics")
    def metrics() -> Response:
        text = show_metrics(_runs(site))
        return Response(text, content_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/healthz")
    def health() -> Response:
        broken = find_broken(_runs(site))
        text = f"not running: {', '.join(broken)}\n" if broken else "ok\n"
        return Response(text, 503 if broken else 200, mimetype="text/plain")


def _under_its_name(outcome: Outcome) -> str:
    """The section of a query on its own page, whose heading has its name already."""
    return outcome.section.replace(f"<h2>{escape(outcome.name)}</h2>", "<h2>Verdict</h2>", 1)


def _runs(site: Site, most: int = 1) -> dict[str, Run]:
    """What runs, with so many moments of each."""
    return read_runs(site.registry, site.metrics, running=site.running, most=most)


def _beside(
    listed: Sequence[dict[str, Any]], runs: Mapping[str, Run], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Of the queries those that are named, in that order, with the chart of their rows kept."""
    known = {query["query"]: query for query in listed}
    asked = [name for name in dict.fromkeys(names) if name in known]
    return [{**known[n], "chart": _charts(runs.get(n), n).get("state", "")} for n in asked]


def _charts(run: Run | None, name: str) -> dict[str, str]:
    if run is None or not run.moments:
        return {}
    return {
        "state": draw_chart(chart_state(name, run.moments)),
        "throughput": draw_chart(chart_throughput(name, run.moments)),
    }


def _text(checks: Checks, run: Run | None, name: str) -> tuple[str | None, Language]:
    """The text of a registered query as it was registered, else of the project's."""
    entry: Mapping[str, Any] = {} if run is None or run.entry is None else run.entry
    text = entry.get("text")
    if isinstance(text, str):
        return text, "sql" if entry.get("language") == "sql" else "sparql"
    return checks.text_of(name)


def _find(checks: Checks, run: Run | None, name: str) -> tuple[Outcome, str | None, Language]:
    """What is decided of a query that is registered, or of the project."""
    text, language = _text(checks, run, name)
    if run is not None and run.entry is not None and text is not None:
        return checks.text(text, language, name), text, language
    if name in checks.names():
        return checks.query(name), text, language
    if run is None:
        abort(404, description=say_unknown(name))
    return (
        Outcome(name, error="its text is not known: it is not a query of the project"),
        None,
        "sql",
    )


def _typed(given: Mapping[str, Any], site: Site) -> tuple[str, Language]:
    text, language = given.get("text"), given.get("language", "sparql")
    if not isinstance(text, str) or language not in ("sparql", "sql"):
        abort(400, description=TYPED)
    if any("\ud800" <= c <= "\udfff" for c in text):
        abort(400, description="the query is no text of Unicode: it has half of a character")
    if len(text) > site.text:
        abort(413, description=f"the query has more than {site.text:,} characters; shorten it")
    return text.replace("\r\n", "\n"), cast(Language, language)
