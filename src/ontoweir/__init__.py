"""Ontology-based data access over streams, in bounded memory."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontoweir.api.answers import Answers
    from ontoweir.api.live_query import LiveQuery
    from ontoweir.api.opening import build_project, open_project
    from ontoweir.api.opening import open_project as open
    from ontoweir.api.python_api import OpenProject
    from ontoweir.errors import OntoweirError, OntoweirWarning

__version__ = "0.1.0"

__all__ = [
    "Answers",
    "LiveQuery",
    "OntoweirError",
    "OntoweirWarning",
    "OpenProject",
    "__version__",
    "build_project",
    "open",
    "open_project",
]

_HOME = {
    "Answers": "api.answers",
    "LiveQuery": "api.live_query",
    "OntoweirError": "errors",
    "OntoweirWarning": "errors",
    "OpenProject": "api.python_api",
    "build_project": "api.opening",
    "open": "api.opening",
    "open_project": "api.opening",
}
_ALIASES = {"open": "open_project"}


def __getattr__(name: str) -> Any:
    """The Python API, imported when it is asked for: the command line starts without it."""
    if name not in _HOME:
        raise AttributeError(f"module 'ontoweir' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ontoweir.{_HOME[name]}"), _ALIASES.get(name, name))


def __dir__() -> list[str]:
    """The Python API, imported or not, and nothing else that was imported."""
    return sorted(__all__)
