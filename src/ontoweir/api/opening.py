"""Open a project on disk, or build one in memory, on your own Spark session."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.api.surroundings import (
    choose_progress,
    choose_sources,
    warn_as_python,
)
from ontoweir.cache.open_cache import open_cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.project.write_project import Documents, write_project
from ontoweir.registry.find_registry import find_registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

from ontoweir.api.python_api import OpenProject, Sources


def open_project(
    path: str | Path = ".",
    *,
    spark: "SparkSession | None" = None,
    settings: Sequence[str] = (),
    strict: bool = False,
    skip_refused: bool = False,
    warn: Callable[[str], None] | None = None,
    sources: Sources | None = None,
    registry: str | Path | None = None,
    cache: str | Path | None = None,
    udf: Sequence[str] = (),
) -> OpenProject:
    """Open a project: its folder, or its `ontoweir.toml`.

    Args:
        path: the folder or the file.
        spark: the session for replays (default: one is started when needed).
        settings: overrides `section.key=value`, as the command line's `--set`.
        strict: an axiom outside OWL 2 QL is an error.
        skip_refused: queries go on without triples maps that are refused, and a warning names those
            that a query could have needed (default: such a query is refused).
        warn: is called with every warning (default: an `OntoweirWarning`, by Python's `warnings`).
        sources: by stream or relation, what replaces its source, as it is now: a frame of pandas or
            polars, a table, reader or dataset of Arrow, a relation of DuckDB, columns by name, rows
            as dictionaries; or of Spark a temporary view of the session (by its name) or a
            DataFrame. Rows need no order. Streaming DataFrames are for `register`, all others for
            replays and static relations.
        registry: the folder of registered queries (default: `$ONTOWEIR_REGISTRY`, else
            `out/registry` in the project's folder).
        cache: the folder where the ontology and the mappings that were read are kept, by content,
            for the next process; or "off" (default: as of the command line: `$ONTOWEIR_CACHE`, else
            `ontoweir` in the folder of the user's caches).
        udf: functions of a row, `module:function` each, as the command line's `--udf`.

    Raises:
        OntoweirError: the project file has an error; or there is no such view, or function.
    """
    chosen = choose_sources(spark, sources)
    overrides = [*settings, *([f"project.udf={json.dumps(list(udf))}"] if udf else ())]
    project = load_project(Path(path), overrides=overrides, views=chosen.named)
    said = warn_as_python if warn is None else warn
    workspace = Workspace(
        project,
        strict=strict,
        partial=True,
        skip_refused=skip_refused,
        on_warning=said,
        on_refused=said,
        on_progress=choose_progress(),
        cache=open_cache(None if cache is None else str(cache)),
    )
    place = find_registry(registry, project.root).absolute()
    return OpenProject(workspace, chosen.home, place, chosen.views, frames=chosen.folder)


def build_project(
    *,
    ontology: Documents = (),
    mappings: Documents = (),
    catalog: str | Mapping[str, Any],
    queries: Mapping[str, str] | None = None,
    sources: Sources | None = None,
    spark: "SparkSession | None" = None,
    folder: str | Path = ".",
    strict: bool = False,
    skip_refused: bool = False,
    warn: Callable[[str], None] | None = None,
    registry: str | Path | None = None,
) -> OpenProject:
    """Build a project in memory; no files are needed, and nothing is kept in the cache.

    Args:
        ontology: rdflib graphs, texts (Turtle, RDF/XML, OWL/XML, functional syntax) or paths.
        mappings: the same: R2RML as a graph or in Turtle, or Ontop's .obda.
        catalog: `[streams.…]` and `[relations.…]` of a project file, as TOML or as a dictionary;
            a table whose source is in `sources` needs none.
        queries: SPARQL or SQL, by name.
        sources: as of open_project.
        spark: as of open_project.
        folder: the folder of relative paths of data, and of `out/`.
        strict: as of open_project.
        skip_refused: as of open_project.
        warn: as of open_project.
        registry: as of open_project.

    Raises:
        OntoweirError: an input has an error; its place is `<catalog>`, `<ontology>`, `<mappings>`
            or `<query NAME>`, with the line of a text.
    """
    chosen = choose_sources(spark, sources)
    root = Path(folder).resolve()
    built = write_project(ontology, mappings, catalog, queries or {}, chosen.named, root)
    said = warn_as_python if warn is None else warn
    workspace = Workspace(
        built.project,
        strict=strict,
        partial=True,
        skip_refused=skip_refused,
        on_warning=lambda text: said(built.rename(text)),
        on_refused=lambda text: said(built.rename(text)),
        on_progress=choose_progress(),
    )
    place = find_registry(registry, root).absolute()
    return OpenProject(workspace, chosen.home, place, chosen.views, built, frames=chosen.folder)
