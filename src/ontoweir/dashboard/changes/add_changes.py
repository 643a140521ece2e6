"""Register and drop queries: from the pages, and as JSON."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

from flask import Flask, Response, abort, jsonify, redirect, request

from ontoweir.dashboard.access.read_body import read_object
from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.site import Site
from ontoweir.project.language_of import Language
from ontoweir.registry.drop_query import drop_query
from ontoweir.registry.register_query import QueryText

_REGISTER = 'send JSON: {"name": …, "language": "sparql" or "sql", "text": "SELECT …"}'
_DROP = 'send JSON: {"name": …}'


def add_changes(app: Flask, site: Site, checks: Checks) -> None:
    """Add what changes the registry: to a site that allows it.

    Args:
        app: the application, which refuses requests of other sites' pages.
        site: its registry.
        checks: where queries are decided, within the time of a check.
    """

    @app.post("/register")
    def register_typed() -> Any:
        name, _ = _register(site, checks, request.form)
        return redirect(f"/query?{urlencode({'name': name})}", 303)

    @app.post("/drop")
    def drop_named() -> Any:
        _drop(site, request.form)
        return redirect("/", 303)

    @app.post("/api/register")
    def api_register() -> tuple[Response, int]:
        name, what = _register(site, checks, read_object(_REGISTER))
        return jsonify(query=name, registration=what), 201

    @app.post("/api/drop")
    def api_drop() -> Response:
        name, purged = _drop(site, read_object(_DROP))
        return jsonify(query=name, dropped=True, purged=purged)


def _register(site: Site, checks: Checks, given: Mapping[str, Any]) -> tuple[str, str]:
    """Register what a request has, if it is bounded; its name, and what became of state that was
    there (`new`, `resumed`, `replaced`)."""
    name, text = given.get("name"), given.get("text")
    language = given.get("language", "sparql")
    if not isinstance(name, str) or not isinstance(text, str):
        abort(400, description=_REGISTER)
    if language not in ("sparql", "sql"):
        abort(400, description=_REGISTER)
    if len(text) > site.text:
        abort(413, description=f"the query has more than {site.text:,} characters; shorten it")
    file = f"{name}.{'sql' if language == 'sql' else 'rq'}"
    query = QueryText(name, cast(Language, language), text.replace("\r\n", "\n"), file)
    return name, checks.register(site.registry, query, replace=_is_said(given, "replace"))


def _drop(site: Site, given: Mapping[str, Any]) -> tuple[str, bool]:
    name, purge = given.get("name"), _is_said(given, "purge")
    if not isinstance(name, str):
        abort(400, description=_DROP)
    drop_query(site.registry, name, purge=purge)
    return name, purge


def _is_said(given: Mapping[str, Any], name: str) -> bool:
    return given.get(name) in (True, "true", "on")
