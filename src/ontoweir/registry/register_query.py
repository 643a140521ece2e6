"""Register a query: it is decided now, and run by the server of the registry."""

import dataclasses
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ontoweir.errors import UsageError
from ontoweir.pipeline.compile_text import compile_text as compile_sparql
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.check_name import check_name
from ontoweir.registry.registry_entry import (
    DROPPED,
    ENTRY,
    Entry,
    Language,
    read_entry,
    utc_now,
    write_entry,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.prepare_live_run import check_live

Registration: TypeAlias = Literal["new", "resumed", "replaced"]


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query as it is written: its name, the language of its text, and `file`, where it was read,
    for messages."""

    name: str
    language: Language
    text: str
    file: str


def compile_text(workspace: Workspace, query: QueryText) -> CompiledQuery:
    """Compile a query from its text.

    Raises:
        OntoweirError: the query, the ontology or the mappings are wrong.
    """
    name, file = query.name, query.file
    if query.language == "sparql":
        return compile_sparql(workspace, query.text, name, file)
    union = parse_sql(query.text, workspace.project.catalog, name=name, file=file)
    return CompiledQuery(name, (), (), union)


def register_query(
    workspace: Workspace,
    registry: Path,
    query: QueryText,
    *,
    allow_unbounded: bool = False,
    replace: bool = False,
) -> tuple[Entry, Registration]:
    """Register a query.

    Args:
        workspace: its project.
        registry: the registry's folder.
        query: the query; its name is the entry's.
        allow_unbounded: register it although it is not bounded.
        replace: replace an entry of that name, and start from an empty state.

    Returns:
        the entry, and its relation to existing state: "new"; "resumed": it continues with the state
        of the same query, which was dropped; "replaced": state of that name exists, and is removed
        when this one starts.

    Raises:
        OntoweirError: it cannot be compiled, is not bounded, or the name is taken.
    """
    name = check_name(query.name)
    compiled = compile_text(workspace, query)
    verdict = check_live(workspace, compiled, allow_unbounded=allow_unbounded)
    bound = verdict.bound
    entry = Entry(
        name=name,
        id=str(uuid.uuid4()),
        language=query.language,
        text=query.text,
        file=query.file,
        registered=utc_now(),
        allow_unbounded=allow_unbounded,
        verdict=verdict.name,
        tier=str(verdict.tier),
        bound_rows=None if bound is None else bound.rows,
        bound_formula="∞" if bound is None else bound.formula,
    )
    folder = registry / name
    dropped = folder / DROPPED
    if replace:
        there = (folder / ENTRY).exists() or dropped.exists()
        write_entry(registry, entry)
        dropped.unlink(missing_ok=True)
        return entry, "replaced" if there else "new"
    before = read_entry(folder / ENTRY)
    if before is not None:
        raise UsageError(
            f"a query is registered as {name} already",
            why="its state and its answers are those of that query",
            fix="choose another --name, or replace it with --replace",
        )
    kept = read_entry(dropped)
    if kept is None:
        write_entry(registry, entry)
        return entry, "new"
    if (kept.language, kept.text) != (query.language, query.text):
        raise UsageError(
            f"{name} was dropped, and its state is kept; it was another query",
            why="a state belongs to the query that made it",
            fix="choose another --name, or replace it with --replace",
        )
    entry = dataclasses.replace(entry, id=kept.id)  # its state is of that one
    write_entry(registry, entry)
    dropped.unlink(missing_ok=True)
    return entry, "resumed"
