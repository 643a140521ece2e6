"""Register a query: it is decided now, and run by the server of the registry."""

import dataclasses
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.catalog import QueryView
from ontoweir.pipeline.compiling.compile_text import compile_text as compile_sparql
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.warn_answers import refuse_answers
from ontoweir.project.check_name import check_name
from ontoweir.project.language_of import Language
from ontoweir.registry.list_entries import list_entries
from ontoweir.registry.registry_entry import (
    DROPPED,
    ENTRY,
    Entry,
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
    for messages; `reads`: the registered queries that it may read as views, by their names."""

    name: str
    language: Language
    text: str
    file: str
    reads: Mapping[str, str] = field(default_factory=dict)


def compile_text(workspace: Workspace, query: QueryText) -> CompiledQuery:
    """Compile a query from its text.

    Raises:
        OntoweirError: the query, the ontology or the mappings are wrong.
    """
    name, file = query.name, query.file
    if query.language == "sparql":
        return compile_sparql(workspace, query.text, name, file)
    catalog = workspace.project.catalog
    views = {n: QueryView(n, text, Source(n), n) for n, text in query.reads.items()}
    catalog = dataclasses.replace(catalog, views={**catalog.views, **views})
    union = parse_sql(query.text, catalog, name=name, file=file)
    return CompiledQuery(name, (), (), union)


def list_read(workspace: Workspace, registry: Path, query: QueryText) -> dict[str, str]:
    """The registered SQL queries that a query names, and those that they read, as they are now:
    for it they are views. A table or a view of the project goes before a query of its name.

    Raises:
        UsageError: two of them read different queries by one name; an entry is damaged.
    """
    if query.language != "sql":
        return {}
    catalog = workspace.project.catalog
    taken = {n.lower() for n in (*catalog.streams, *catalog.relations, *catalog.views)}
    found: dict[str, str] = {}
    for entry in list_entries(registry):
        named = rf"(?<![\w-]){re.escape(entry.name)}(?![\w-])"
        if entry.language != "sql" or entry.name.lower() in {*taken, query.name.lower()}:
            continue
        if not re.search(named, query.text, re.IGNORECASE):
            continue
        for name, text in {**entry.reads, entry.name: entry.text}.items():
            if found.setdefault(name, text) != text:
                raise UsageError(
                    f"{query.name} would read two queries called {name}",
                    why=f"{entry.name} reads it as it was when {entry.name} was registered",
                    fix=f"register {entry.name} again, with --replace",
                )
    return found


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
    query = dataclasses.replace(query, reads=list_read(workspace, registry, query))
    compiled = compile_text(workspace, query)
    verdict = check_live(workspace, compiled, allow_unbounded=allow_unbounded)
    if (refused := refuse_answers(compiled, workspace.project.catalog)) is not None:
        raise refused
    bound = verdict.bound
    entry = Entry(
        name=name,
        id=str(uuid.uuid4()),
        language=query.language,
        text=query.text,
        file=query.file,
        reads=dict(query.reads),
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
    same = (kept.language, kept.text, kept.reads) == (query.language, query.text, query.reads)
    if not same:
        raise UsageError(
            f"{name} was dropped, and its state is kept; it was another query",
            why="a state belongs to the query that made it",
            fix="choose another --name, or replace it with --replace",
        )
    entry = dataclasses.replace(entry, id=kept.id)  # its state is of that one
    write_entry(registry, entry)
    dropped.unlink(missing_ok=True)
    return entry, "resumed"
