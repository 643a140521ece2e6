"""Ontology-based data access over streams, in bounded memory."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontoweir.api.answers import Answers
    from ontoweir.api.live_query import LiveQuery
    from ontoweir.api.python_api import OpenProject, build_project, open_project
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
    "open_project",
]

_HOME = {
    "Answers": "answers",
    "LiveQuery": "live_query",
    "OntoweirError": "errors",
    "OntoweirWarning": "errors",
    "OpenProject": "python_api",
    "build_project": "python_api",
    "open_project": "python_api",
}


def __getattr__(name: str) -> Any:
    """The Python API, imported when it is asked for: the command line starts without it."""
    if name not in _HOME:
        raise AttributeError(f"module 'ontoweir' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ontoweir.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """What there is, also before it is imported."""
    return sorted({*globals(), *__all__})
