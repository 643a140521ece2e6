"""The API of the dashboard, described as OpenAPI 3.1."""

from typing import Any

from ontoweir import __version__
from ontoweir.dashboard.rows.page_rows import FAR, MOST, PAGE
from ontoweir.dashboard.steps.replay_steps import MOST as TOLD

_NAME = "a query of the project, of the registry, or that ran"
_WHERE = "a condition in SQL that rows meet, as `ontoweir show --where` takes it"
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "line": {"type": ["integer", "null"]}},
    "required": ["error"],
}


def describe_api(*, changes: bool = False) -> dict[str, Any]:
    """The description, as `GET /api/openapi.json` gives it.

    Args:
        changes: queries may be registered and dropped.
    """
    look = [
        _argument("name", _NAME, required=True),
        _argument("where", _WHERE),
        _argument("sort", "a column; with ` DESC` after it from the greatest down"),
        _argument("skip", "rows to leave out", kind={**_NUMBER, "maximum": FAR - MOST}),
        _argument("limit", f"rows (default: {PAGE})", kind={**_NUMBER, "maximum": MOST}),
    ]
    charted = [
        _argument("charts", "1: with a chart and a map as SVG", kind=_FLAG),
        _argument("chart", "the column of numbers that is charted (default: as guessed)"),
    ]
    paths: dict[str, Any] = {
        "/api/overview": _get(
            "all queries, their verdicts, and how they run",
            [_argument("name", "only these, with their charts as SVG; may be repeated")],
            "Overview",
        ),
        "/api/query": _get(
            "how a query runs",
            [
                _argument("name", _NAME, required=True),
                _argument("charts", "1: with charts as SVG", kind=_FLAG),
            ],
            "Run",
        ),
        "/api/mappings": _get("how each class and property can be used over time", [], "Lint"),
        "/api/check": {"post": _check()},
        "/api/replay": {"post": _replay()},
        "/api/answers/events": {"get": _events()},
    }
    for kind, what in (("answers", "answers"), ("rejects", "rows that its run rejected")):
        more = charted if kind == "answers" else []
        paths[f"/api/{kind}"] = _get(f"a query's {what}, a page of them", [*look, *more], "Rows")
        for form, media in (("csv", "text/csv"), ("jsonl", "application/x-ndjson")):
            paths[f"/api/{kind}.{form}"] = {
                "get": {
                    "summary": f"all of a query's {what}, as a file",
                    "parameters": look[:2],
                    "responses": {
                        "200": {"description": "the file", "content": {media: {}}},
                        **_FAILURES,
                    },
                }
            }
    if changes:
        paths |= _changes()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ontoweir",
            "version": __version__,
            "description": "Verdicts of a project's queries, their runs, and what these write."
            + ("" if changes else " It changes nothing."),
        },
        "paths": paths,
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


_NUMBER = {"type": "integer", "minimum": 0}
_FLAG = {"type": "integer", "enum": [0, 1]}
_TEXT = {"type": "string"}


def _argument(name: str, text: str, *, kind: Any = _TEXT, required: bool = False) -> Any:
    return {
        "name": name,
        "in": "query",
        "description": text,
        "required": required,
        "schema": kind,
    }


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


_FAILURES = {
    code: {"description": text, "content": _json("Error")}
    for code, text in (
        ("401", "the token is missing or wrong"),
        ("404", "there is no such query"),
        ("422", "what was asked for is wrong; the error says what, why, and what to write"),
    )
}

_UNREAD = {
    code: {"description": text, "content": _json("Error")}
    for code, text in (("400", "the body is not as described"), ("413", "the text is too long"))
}


def _get(text: str, arguments: list[Any], schema: str) -> dict[str, Any]:
    ok = {"description": text, "content": _json(schema)}
    return {
        "get": {"summary": text, "parameters": arguments, "responses": {"200": ok, **_FAILURES}}
    }


def _check() -> dict[str, Any]:
    ok = {"description": "as `ontoweir check --format json`", "content": _json("Verdict")}
    return {
        "summary": "decide a typed query",
        "requestBody": {"required": True, "content": _json("Typed")},
        "responses": {"200": ok, **_UNREAD, **_FAILURES},
    }


def _replay() -> dict[str, Any]:
    ok = {"description": "the changes of its answers", "content": _json("Steps")}
    return {
        "summary": f"replay a typed query; the first {TOLD:,} changes, time by time",
        "requestBody": {"required": True, "content": _json("Typed")},
        "responses": {"200": ok, **_UNREAD, **_FAILURES},
    }


def _changes() -> dict[str, Any]:
    """What is there with `--allow-changes`."""
    return {
        f"/api/{word}": {
            "post": {
                "summary": text,
                "requestBody": {"required": True, "content": _json(schema)},
                "responses": {
                    code: {"description": done, "content": _json("Changed")},
                    **_UNREAD,
                    **_FAILURES,
                },
            }
        }
        for word, text, schema, code, done in (
            ("register", "register a query, if it is bounded", "Registered", "201", "registered"),
            ("drop", "drop a registered query", "Dropped", "200", "dropped"),
        )
    }


def _events() -> dict[str, Any]:
    return {
        "summary": "answers as they come: server-sent events",
        "description": "Event `ready` first, then events `rows`, each a list of objects, and "
        "`whole` with the id of the file whose rows have all been told. A connection ends after "
        "half a minute; the next one goes on where the header Last-Event-ID says, with whole "
        "files: rows of a file that were told in part come again.",
        "parameters": [_argument("name", _NAME, required=True), _argument("where", _WHERE)],
        "responses": {
            "200": {"description": "events", "content": {"text/event-stream": {}}},
            "503": {"description": "try again later", "content": _json("Error")},
            **_FAILURES,
        },
    }


_SCHEMAS: dict[str, Any] = {
    "Error": _ERROR,
    "Lint": {"type": "array", "items": {"type": "object", "required": ["mapping", "predicates"]}},
    "Verdict": {
        "type": "object",
        "description": "as docs/command-line.md has it; of it here only what most ask for",
        "properties": {
            "query": {"type": "string"},
            "verdict": {"type": "string"},
            "tier": {"type": "string"},
            "bound": {
                "type": ["object", "null"],
                "properties": {"rows": {"type": ["integer", "null"]}},
            },
            "witness": {"type": ["object", "null"]},
            "repairs": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["query", "verdict", "tier", "bound", "witness", "repairs"],
    },
    "Run": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "status": {"type": "string"},
            "state_rows": {"type": ["integer", "null"]},
            "bound_rows": {"type": ["integer", "null"]},
        },
        "required": ["query", "status"],
    },
    "Overview": {
        "type": "object",
        "properties": {
            "queries": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}},
            "problem": {"type": ["string", "null"]},
        },
        "required": ["queries", "problem"],
    },
    "Rows": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "columns": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "type": {"type": "string"}},
                    "required": ["name", "type"],
                },
            },
            "rows": {"type": "array", "items": {"type": "array"}},
            "total": {"type": "integer"},
            "met": {"type": "integer"},
            "sort": {"type": ["string", "null"]},
        },
        "required": ["query", "columns", "rows", "total", "met", "sort"],
    },
    "Steps": {
        "type": "object",
        "properties": {
            "columns": {"type": "array", "items": {"type": "string"}},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "at": {"type": "string"},
                        "changes": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "op": {"enum": ["+", "-"]},
                                    "row": {"type": "array"},
                                    "multiplicity": {"type": "integer"},
                                },
                                "required": ["op", "row", "multiplicity"],
                            },
                        },
                        "holding": {"type": "integer"},
                    },
                    "required": ["at", "changes", "holding"],
                },
            },
            "total": {"type": "integer"},
            "told": {"type": "integer"},
            "state_rows": {"type": "integer"},
            "bound_rows": {"type": ["integer", "null"]},
        },
        "required": ["columns", "steps", "total", "told", "state_rows", "bound_rows"],
    },
    "Changed": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "registration": {"enum": ["new", "resumed", "replaced"]},
            "dropped": {"type": "boolean"},
            "purged": {"type": "boolean"},
        },
        "required": ["query"],
    },
    "Registered": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "language": {"enum": ["sparql", "sql"]},
            "text": {"type": "string"},
            "replace": {"type": "boolean"},
        },
        "required": ["name", "text"],
    },
    "Dropped": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "purge": {"type": "boolean"}},
        "required": ["name"],
    },
    "Typed": {
        "type": "object",
        "properties": {
            "language": {"enum": ["sparql", "sql"]},
            "text": {"type": "string"},
        },
        "required": ["text"],
    },
}
