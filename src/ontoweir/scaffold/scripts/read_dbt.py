"""Read a dbt project, as dbt has compiled it: its models, each a query that others may read."""

import json
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeAlias

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.scaffold.scripts.read_scripts import Dialect, Scripts, read_statements
from ontoweir.scaffold.scripts.split_script import Kind, Statement

_Node: TypeAlias = Mapping[str, Any]
_LIKE_SPARK = ("spark", "databricks", "hive", "bigquery")
"""Adapters whose SQL has texts in double quotes."""


def read_dbt(
    manifest: Path, catalog: Catalog | None = None, dialect: Dialect | None = None
) -> Scripts:
    """What the models of a dbt project ask, each after those that it reads.

    Sources are tables of the catalog, or those whose columns have types in dbt, with a
    `loaded_at_field`, which is the time of a row. Ephemeral models are parts of others, and have
    no verdict of their own; tests and snapshots have none either.

    Args:
        manifest: `target/manifest.json`.
        catalog: what is declared beside it; of a source that is in both, this counts.
        dialect: of which engine the models are.

    Raises:
        UsageError: it cannot be read, or has no model.
        DataError: it is no manifest of dbt, or its models are not compiled.
    """
    held = _read_manifest(manifest)
    nodes: Mapping[str, _Node] = held["nodes"]
    sources = [s for s in map(_declare, held.get("sources", {}).values()) if s is not None]
    found: list[tuple[str, Dialect, Statement]] = [(str(manifest), "flink", s) for s in sources]
    adapter = str(held.get("metadata", {}).get("adapter_type", "spark"))
    for node in _order(nodes, manifest):
        file = node.get("compiled_path") or node.get("original_file_path") or node["name"]
        found.append((str(file), dialect or _guess(adapter), _read_model(node, str(file))))
    if len(found) == len(sources):
        raise UsageError(
            "the dbt project has no models",
            why=f"{manifest} names none but ephemeral ones",
            fix="add one, and run `dbt compile`",
            source=Source(str(manifest)),
        )
    return read_statements(found, catalog or Catalog(file=str(manifest)))


def _guess(adapter: str) -> Dialect:
    """The dialect of models for an adapter: most have names in double quotes, as PostgreSQL."""
    known: Mapping[str, Dialect] = {"flink": "flink", "risingwave": "risingwave"}
    return "spark" if adapter in _LIKE_SPARK else known.get(adapter, "materialize")


def _read_manifest(file: Path) -> Mapping[str, Any]:
    try:
        held = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror or error}",
            why="--dbt reads what dbt has compiled",
            fix="run `dbt compile`, and name target/manifest.json",
            source=Source(str(file)),
        ) from error
    except ValueError as error:
        raise _no_manifest(file, str(error)) from error
    if not isinstance(held, dict) or not isinstance(held.get("nodes"), dict):
        raise _no_manifest(file, "it has no nodes")
    return held


def _no_manifest(file: Path, why: str) -> DataError:
    return DataError(
        "it is no manifest of dbt",
        why=why,
        fix="run `dbt compile`, and name target/manifest.json",
        source=Source(str(file)),
    )


def _order(nodes: Mapping[str, _Node], manifest: Path) -> Iterator[_Node]:
    """The models that are built, each after those that it reads."""
    models = {
        key: node
        for key, node in nodes.items()
        if node.get("resource_type") == "model"
        and node.get("config", {}).get("materialized") != "ephemeral"
    }
    needed = {
        key: [n for n in node.get("depends_on", {}).get("nodes", []) if n in models]
        for key, node in models.items()
    }
    try:
        yield from (models[key] for key in TopologicalSorter(needed).static_order())
    except CycleError as error:
        raise _no_manifest(manifest, f"models read each other: {error.args[1]}") from error


def _read_model(node: _Node, file: str) -> Statement:
    """
    Raises:
        DataError: it is not compiled, or not SQL.
    """
    code = node.get("compiled_code")
    if node.get("language", "sql") != "sql" or not isinstance(code, str):
        raise DataError(
            f"the model {node.get('name')!r} has no compiled SQL",
            why="a manifest of `dbt parse` has none, nor have models in Python",
            fix="run `dbt compile`, and leave models in Python out (--exclude)",
            source=Source(file),
        )
    body = code.rstrip().rstrip(";")
    name = str(node.get("alias") or node["name"])
    return Statement(Kind.VIEW, body.strip(), 1, name, body, kept=True)


def _declare(source: _Node) -> Statement | None:
    """A source as a table with a watermark (None: dbt does not know its columns, or its time)."""
    columns = source.get("columns", {}).values()
    time = source.get("loaded_at_field")
    if not columns or not time or any(not c.get("data_type") for c in columns):
        return None
    name = str(source.get("identifier") or source["name"])
    listed = ", ".join(f"{c['name']} {c['data_type']}" for c in columns)
    text = f"CREATE TABLE {name} ({listed}, WATERMARK FOR {time} AS {time})"
    return Statement(Kind.TABLE, text, 1, name)
