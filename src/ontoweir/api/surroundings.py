"""The environment of a program that uses the Python API: warnings, notebooks, a registry."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.api.python_api import Sources
from ontoweir.errors import OntoweirWarning
from ontoweir.progress.notebook import in_notebook
from ontoweir.progress.progress import OnProgress, ignore_progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def choose_sources(
    spark: "SparkSession | None", sources: Sources | None
) -> "tuple[SparkSession | None, SparkSession | None, Mapping[str, str]]":
    """The user's session, one that has the sources, and the names that they have there."""
    if not sources:
        return spark, None, {}
    from ontoweir.runtime.spark.read_view import find_home, name_sources

    home = spark or find_home(sources.values())
    views, named = name_sources(home, sources)
    return home, views, named


def choose_progress() -> OnProgress:
    """Where progress on a query is shown: in a notebook."""
    from ontoweir.progress.show_phases import QueryProgress

    return QueryProgress() if in_notebook() else ignore_progress


def warn_as_python(text: str) -> None:
    """Warn as Python does, at the line of the user that led here."""
    import sys

    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ontoweir"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, OntoweirWarning, stacklevel=depth)
