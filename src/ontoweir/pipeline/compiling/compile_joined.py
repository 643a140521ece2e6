"""Compile a SPARQL query of solutions that come and go by themselves, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import gcd

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.certain_compiler import CertainCompiler
from ontoweir.pipeline.compiling.compile_solutions import compile_moment, tell_nothing
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.rewriter.algebra.compile_in_steps import count_in_steps
from ontoweir.rewriter.clauses.lift_exists import lift_exists
from ontoweir.rewriter.composed.join_solutions import Asked, join_solutions
from ontoweir.rewriter.composed.split_joined import JoinedText, PartOfText, split_joined
from ontoweir.rewriter.composed.split_union import split_union
from ontoweir.rewriter.composed.text_part import has_patterns
from ontoweir.rewriter.joined.begin_parts import begin_parts
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.share_steps import share_steps
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.views.list_streams import list_read
from ontoweir.rewriter.windows.choose_emit import Emit


def compile_joined(
    workspace: Compiler,
    text: str,
    name: str,
    file: str,
    catalog: Catalog | None,
    read: Callable[..., CompiledQuery],
) -> CompiledQuery | QueryError | None:
    """The query of solutions that come and go by themselves; or why a part of it is refused (None:
    it is something else).

    Args:
        workspace: compiles what has no such parts.
        text: a query.
        name: what it is called.
        file: where it stands.
        catalog: the tables (None: the project's).
        read: compiles the text of a part (compile_text).

    Raises:
        QueryError: what is computed of the joined solutions is not read.
    """
    text = lift_exists(text) or text
    made: CompiledQuery | QueryError | None = None
    for asked in (split_union(text) or split_joined(text), split_joined(text, around=True)):
        if asked is not None and not isinstance(made, CompiledQuery):
            found = _compile_parts(workspace, asked, name, file, catalog, read)
            made = found if isinstance(found, CompiledQuery) else made or found
    return made


def _compile_parts(
    workspace: Compiler,
    asked: JoinedText,
    name: str,
    file: str,
    catalog: Catalog | None,
    read: Callable[..., CompiledQuery],
) -> CompiledQuery | QueryError | None:
    """The query of what is joined of parts (compile_joined)."""
    known = catalog or workspace.project.catalog
    certain = CertainCompiler(workspace) if _is_set(asked, name, file) else workspace

    def compile_part(n: int, part: PartOfText, over: Catalog | None) -> CompiledQuery:
        by = workspace if part.counts else certain
        if part.static and not has_patterns(part.text):  # VALUES alone
            branches = parse_query(part.text, name=f"{name}_{n}", file=file, bare=True)
            return by.compile_branches(branches, catalog=over, quiet=True)
        return read(by, part.text, f"{name}_{n}", file, catalog=over)

    def compile_parts(over: Catalog | None) -> list[CompiledQuery]:
        return [compile_part(n, part, over) for n, part in enumerate(asked.parts)]

    try:
        made = compile_parts(catalog)
        steps = _list_steps(made, known)
        shared = gcd(*steps) if len(steps) > 1 else None
        if shared is not None:
            known = share_steps(known, shared)
            made = compile_parts(known)
        begins = begin_parts([one.union for one in made], known)
        if begins is not None:
            known = replace(known, begins=begins)
            made = compile_parts(known)
    except QueryError as error:
        return error
    unions = [one.union for one in made]
    union = join_solutions(asked, unions, name, known, _make_readers(asked, known, name, file))
    if isinstance(union, QueryError):
        return union
    if union is None and not any(one.disjuncts for one in unions):
        union = _tell_nothing(workspace, asked, made, known)
    if union is None:
        return None
    union = union if shared is None else count_in_steps(union, shared)
    incomplete = tuple(dict.fromkeys(r for one in made for r in one.incomplete))
    return replace(made[0], name=name, union=union, incomplete=incomplete)


def _tell_nothing(
    workspace: Compiler, asked: JoinedText, made: Sequence[CompiledQuery], catalog: Catalog
) -> SpjUnion | None:
    """What is told of parts of which no solution is, as one row (None: it is grouped, or they are
    of no stream)."""
    first = made[0].branches[0]
    file = "" if first.source is None else first.source.file
    around = None if asked.around is None else _parse(asked, first.name, file)(asked.around)
    if around is None or around.aggregation is None or around.aggregation.group:
        return None
    union = tell_nothing(
        made[0].branches,
        asked.head,
        around,
        lambda branches: workspace.compile_branches(branches, catalog=catalog, quiet=True),
    )
    return replace(union, told=Emit.CHANGES) if union.disjuncts else None


def _list_steps(made: Sequence[CompiledQuery], catalog: Catalog) -> set[int]:
    names = {name for one in made for name in list_read(one.union, catalog)}
    return {catalog.streams[name].step_us for name in names}


def _is_set(asked: JoinedText, name: str, file: str) -> bool:
    """Whether how often solutions of the parts are found makes no difference."""
    if asked.around is None or not asked.distinct:
        return asked.distinct
    try:
        return _parse(asked, name, file)(asked.around).aggregation is None
    except QueryError:
        return False  # which is said of the whole, if it is not something else


def _parse(asked: JoinedText, name: str, file: str) -> Callable[[str], ConjunctiveQuery]:
    return lambda text: parse_query(text, name=name, file=file, late=asked.late)[0]


def _make_readers(asked: JoinedText, catalog: Catalog, name: str, file: str) -> Asked:
    @cache  # each part asks for it
    def moment(streams: tuple[str, ...]) -> SpjUnion:
        return compile_moment(streams, catalog, file)

    return Asked(_parse(asked, name, file), lambda streams: moment(tuple(streams)))
