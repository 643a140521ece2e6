"""The environment of a program that uses the Python API: warnings, notebooks, a registry."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.api.answers import make_folder
from ontoweir.api.python_api import Sources
from ontoweir.api.write_frames import is_spark, write_frames
from ontoweir.errors import OntoweirWarning
from ontoweir.progress.notebook import in_notebook
from ontoweir.progress.progress import OnProgress, ignore_progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class ChosenSources:
    """`home`: the user's session; `views`: one that has those sources that are Spark's; `named`: by
    table the name of its view there, or its file; `folder`: where the files are, while it lives."""

    home: "SparkSession | None"
    views: "SparkSession | None"
    named: "Mapping[str, str | Path]"
    folder: object


def choose_sources(spark: "SparkSession | None", sources: Sources | None) -> ChosenSources:
    """Where the sources that are given are read from.

    Raises:
        UsageError: a source is none.
        DataError: there is no such view; or the rows of a table cannot be read.
    """
    of_spark: dict[str, str | DataFrame] = {}
    frames: dict[str, Any] = {}
    for name, source in (sources or {}).items():
        (of_spark if is_spark(source) else frames)[name] = source
    named: dict[str, str | Path] = {}
    folder, views = None, None
    if frames:
        folder = make_folder()
        named |= write_frames(frames, folder.path)
    if of_spark:
        from ontoweir.runtime.spark.read_view import find_home, name_sources

        spark = spark or find_home(of_spark.values())
        views, known = name_sources(spark, of_spark)
        named |= known
    return ChosenSources(spark, views, named, folder)


_OURS = {"ontoweir", "functools", "contextlib"}
"""The program, and what it is called through, as a property that is computed once."""


def choose_progress() -> OnProgress:
    """Where progress on a query is shown: in a notebook."""
    from ontoweir.progress.show_phases import QueryProgress

    return QueryProgress() if in_notebook() else ignore_progress


def warn_as_python(text: str) -> None:
    """Warn as Python does, at the line of the user that led here."""
    import sys

    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in _OURS:
            break
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, OntoweirWarning, stacklevel=depth)
