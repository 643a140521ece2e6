"""The JSON object that a request sends."""

from collections.abc import Mapping
from typing import Any

from flask import abort, request

TYPED = 'send JSON: {"language": "sparql" or "sql", "text": "SELECT …"}'
"""What is answered where a query is asked for, and none is sent."""


def read_object(wanted: str = TYPED) -> Mapping[str, Any]:
    """The object in the body of a request; what is none is answered with 400 and what is wanted."""
    given = request.get_json(silent=True)
    if not isinstance(given, dict):
        abort(400, description=wanted)
    return given
