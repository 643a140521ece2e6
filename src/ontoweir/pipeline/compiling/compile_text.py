"""Compile the text of a SPARQL query: rewrite and unfold it, or those that it is made of."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.certain_compiler import CertainCompiler
from ontoweir.pipeline.compiling.compile_joined import compile_joined
from ontoweir.pipeline.compiling.compile_rsp import TOLD, open_windows
from ontoweir.pipeline.compiling.compile_solutions import (
    Asked,
    SolutionCompiler,
    compile_open,
    compile_solutions,
    meet_solutions,
    tell_nothing,
    unite_asked,
)
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.pipeline.compiling.move_values import move_values
from ontoweir.rewriter.absence.compare_last import compare_last
from ontoweir.rewriter.absence.compute_matches import compute_matches, list_matches
from ontoweir.rewriter.absence.compute_solutions import (
    BucketError,
    list_needed,
)
from ontoweir.rewriter.absence.find_latest import find_latest
from ontoweir.rewriter.absence.pad_solutions import find_stream, is_timed, pad_solutions
from ontoweir.rewriter.absence.spell_stars import spell_stars
from ontoweir.rewriter.absence.split_last import split_last
from ontoweir.rewriter.absence.split_latest import LatestText, split_latest
from ontoweir.rewriter.absence.split_text import SplitText, split_text
from ontoweir.rewriter.algebra.compile_in_steps import compile_in_steps
from ontoweir.rewriter.around.number_groups import limit_groups
from ontoweir.rewriter.before.keeps_more import keeps_more
from ontoweir.rewriter.calendar.compare_named_buckets import compare_named_buckets
from ontoweir.rewriter.calendar.equal_buckets import equal_buckets
from ontoweir.rewriter.calendar.spell_buckets import name_floors, spell_buckets
from ontoweir.rewriter.clauses.name_absence import name_absence
from ontoweir.rewriter.clauses.turn_greatest import turn_greatest
from ontoweir.rewriter.composed.list_visible import list_asked
from ontoweir.rewriter.composed.refuse_parts import refuse_parts
from ontoweir.rewriter.dated.count_once import count_once
from ontoweir.rewriter.dated.find_dated import find_again, find_dated, rest_on
from ontoweir.rewriter.delays.hold_set import hold_set
from ontoweir.rewriter.expressions.attach_computation import SeveralRowsError
from ontoweir.rewriter.grouped.filter_groups import filter_groups
from ontoweir.rewriter.grouped.hide_keys import hide_keys
from ontoweir.rewriter.grouped.last_groups import last_groups
from ontoweir.rewriter.grouped.name_groups import name_groups
from ontoweir.rewriter.grouped.time_groups import RowGroups, is_of_row, time_groups
from ontoweir.rewriter.lasting.imply_named import imply_named
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.optional.count_beside import count_beside
from ontoweir.rewriter.optional.open_optional import open_optional
from ontoweir.rewriter.ranked.limit_solutions import limit_solutions
from ontoweir.rewriter.ranked.split_limit import split_limit
from ontoweir.rewriter.rounded.wrap_sums import ComparedSumError, wrap_sums
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.syntax.group_binds import group_binds
from ontoweir.rewriter.syntax.open_ask import open_ask
from ontoweir.rewriter.syntax.open_construct import open_construct
from ontoweir.rewriter.syntax.refuse_forms import refuse_service
from ontoweir.rewriter.tmappings.list_classes import list_classes
from ontoweir.rewriter.tmappings.name_classes import name_classes
from ontoweir.rewriter.windows.choose_emit import Emit, default_emit


def compile_text(
    workspace: Compiler, text: str, name: str, file: str, *, catalog: Catalog | None = None
) -> CompiledQuery:
    """Rewrite and unfold a query. With NOT EXISTS, EXISTS, MINUS and OPTIONAL: those that it is
    made of. Over another `catalog` than the project's it says no warnings.

    Raises:
        OntoweirError: the query, the ontology or the mappings are wrong.
    """
    if (windows := open_windows(workspace, text, file, catalog)) is not None:
        opened, read = windows
        try:
            made = compile_text(opened, read.text, name, file, catalog=catalog)
        except QueryError as error:
            error.source = read.place_back(error.source)
            raise
        return replace(made, text=text, union=replace(made.union, told=TOLD[read.stream]))
    refuse_service(text, file)
    if (limited := split_limit(text)) is not None:
        whole = compile_text(workspace, limited.text, name, file, catalog=catalog)
        known = catalog or workspace.project.catalog
        first = limit_groups(whole.union, limited, known)
        first = first or limit_solutions(whole.union, limited, known)
        if first is not None:
            return replace(whole, union=first)

    text = open_construct(text, file)
    if asked := list_asked(text):
        return _compile_ask(workspace, text, asked, name, file, catalog)
    return _compile_form(workspace, text, name, file, catalog)


def _compile_ask(
    workspace: Compiler,
    text: str,
    asked: Sequence[str],
    name: str,
    file: str,
    catalog: Catalog | None,
) -> CompiledQuery:
    """An ASK: when its solutions come and go, whether there are any, or none."""
    made: CompiledQuery | QueryError
    try:
        made = _compile_form(workspace, open_ask(text), name, file, catalog)
    except QueryError as error:
        made = error
    if isinstance(made, CompiledQuery) and default_emit(made.union) is Emit.ANSWERS:
        return made
    known = catalog or workspace.project.catalog
    for told in asked:
        with suppress(QueryError):
            return _compile_form(workspace, open_ask(text, told=told), name, file, known)
    if isinstance(made, QueryError):
        raise made
    return made


def _compile_form(
    workspace: Compiler, text: str, name: str, file: str, catalog: Catalog | None
) -> CompiledQuery:
    """A SELECT, as it is written."""
    text = spell_stars(text)
    listed = partial(list_classes, workspace.mappings, workspace.tmappings)
    if (named := name_classes(text, file, listed)) is None:
        return _compile_opened(workspace, text, name, file, catalog)
    try:
        return _compile_opened(workspace, named.text, name, file, catalog)
    except QueryError as error:
        error.source = named.place_back(error.source)
        raise


def _compile_opened(
    workspace: Compiler, text: str, name: str, file: str, catalog: Catalog | None
) -> CompiledQuery:
    """A SELECT whose classes have names; with triples that may come again as the set that they
    are."""
    dated = find_dated(text, workspace.mappings, workspace.tmappings)
    try:
        if dated is None:
            return _compile_dated(workspace, text, name, file, catalog)
        made = _compile_dated(workspace, dated.text, name, file, catalog)
        return replace(made, union=rest_on(made.union, dated.rests))
    except QueryError as error:
        again = find_again(text, workspace.mappings, workspace.tmappings)
        if (once := count_once(text, again)) is not None:
            with suppress(QueryError):
                return _compile_form(workspace, once, name, file, catalog)
        error.source = error.source if dated is None else dated.place_back(error.source)
        raise


def _compile_dated(
    workspace: Compiler, text: str, name: str, file: str, catalog: Catalog | None
) -> CompiledQuery:
    """A SELECT whose dated nodes are in GRAPH; of groups that hide their keys, one around these
    where it is not read as it is: sessions tell no more than their rows."""
    text = move_values(text, file)
    if (around := hide_keys(text)) is not None:
        with suppress(QueryError):
            return _compile_said(workspace, text, name, file, catalog)
    known = catalog or workspace.project.catalog

    def is_one_time(groups: RowGroups) -> bool:
        with suppress(QueryError):
            union = _compile_said(workspace, groups.pattern, name, file, known).union
            return is_of_row(union, groups, extend_catalog(known, union))
        return False

    for other in (time_groups(around or text, is_one_time), last_groups(around or text)):
        if other is not None:
            with suppress(QueryError):
                return _compile_said(workspace, other, name, file, catalog)
    return _compile_said(workspace, around or text, name, file, catalog)


def _compile_said(
    workspace: Compiler, text: str, name: str, file: str, catalog: Catalog | None
) -> CompiledQuery:
    """A SELECT that shows by what it groups."""
    text = spell_buckets(name_floors(name_groups(text)))
    text = compare_named_buckets(equal_buckets(group_binds(text)))
    text = name_absence(turn_greatest(text))
    try:
        named = _compile_named(workspace, text, name, file, catalog)
        return replace(named, union=hold_set(named.union))
    except QueryError as error:
        joined = compile_joined(workspace, text, name, file, catalog, compile_text)
        if isinstance(joined, CompiledQuery):
            return joined
        sums = wrap_sums(text) if isinstance(error, ComparedSumError) else None
        opened = open_optional(text)
        for other in (sums, imply_named(text), filter_groups(text), opened, count_beside(text)):
            if other is None:
                continue
            try:
                return _compile_said(workspace, other, name, file, catalog)
            except QueryError as inner:  # what is wrong of OPTIONAL is seen where it is opened
                error = inner if other is opened else error
        raise refuse_parts(error, text, file, joined) from error


def _compile_named(
    workspace: Compiler, text: str, name: str, file: str, catalog: Catalog | None
) -> CompiledQuery:
    """A query whose clauses have names (name_absence)."""

    def compile_branches(branches: tuple[ConjunctiveQuery, ...], silent: bool) -> CompiledQuery:
        quiet = silent or catalog is not None
        return workspace.compile_branches(branches, catalog=catalog, quiet=quiet)

    if (last := split_last(text)) is not None:
        made_of, recent = (
            compile_branches(parse_query(one, name=name, file=file), silent)
            for one, silent in ((last.every, False), (last.recent, True))
        )
        known = catalog or workspace.project.catalog
        late = compare_last(made_of.union, recent.union, known, there=last.there)
        if late is not None:
            return replace(made_of, union=late)
    asked = split_latest(text, file)
    if asked is not None:
        found = _compile_latest(asked, workspace, name, catalog)
        if found is not None:
            return found
    split = split_text(text, file)
    if split is None:
        branches = parse_query(text, name=name, file=file)
        try:
            return compile_branches(branches, False)
        except SeveralRowsError as error:
            patterns = list_matches(branches)
            if patterns is None:
                raise
            by = CertainCompiler(workspace) if _is_of_sets(branches[0]) else workspace
            made_of = by.compile_branches(patterns, catalog=catalog, quiet=True)
            known = catalog or workspace.project.catalog
            return replace(made_of, union=compute_matches(made_of.union, branches, known, error))
    known, made = catalog or workspace.project.catalog, list[CompiledQuery]()

    def compile_over(shared: Catalog) -> SpjUnion:
        def compile_parsed(branches: tuple[ConjunctiveQuery, ...]) -> CompiledQuery:
            given = catalog if shared is known else shared
            told = {text for before in made for text in before.warnings}
            made.append(workspace.compile_branches(branches, catalog=given, quiet=True))
            for text in made[-1].warnings if catalog is None else ():
                if text not in told:
                    workspace.on_warning(text)
            return made[-1]

        def compile_one(one: str) -> CompiledQuery:
            return compile_parsed(parse_query(one, name=name, file=file))

        work = SolutionCompiler(compile_one, name, file, shared, compile_parsed)
        return _compile_split(text, split, work)

    union = compile_in_steps(compile_over, known)
    incomplete = tuple(dict.fromkeys(r for one in made for r in one.incomplete))
    warnings = tuple(dict.fromkeys(text for one in made for text in one.warnings))
    return replace(made[0], union=union, incomplete=incomplete, warnings=warnings)


def _is_of_sets(query: ConjunctiveQuery) -> bool:
    """Whether how often a match is found makes no difference to a query's answers."""
    groups = query.aggregation
    return query.distinct if groups is None else not groups.duplicate_sensitive


def _compile_latest(
    asked: LatestText, workspace: Compiler, name: str, catalog: Catalog | None
) -> CompiledQuery | None:
    """Static solutions with the latest of each beside them (None: it is something else)."""
    known, made = catalog or workspace.project.catalog, list[CompiledQuery]()
    file = asked.source.file

    def compile_parsed(branches: tuple[ConjunctiveQuery, ...]) -> CompiledQuery:
        quiet = bool(made) or catalog is not None
        made.append(workspace.compile_branches(branches, catalog=catalog, quiet=quiet))
        return made[-1]

    def compile_one(one: str) -> CompiledQuery:
        return compile_parsed(parse_query(one, name=name, file=file))

    work = SolutionCompiler(compile_one, name, file, known, compile_parsed)
    inside = split_text(asked.latest, file)
    if inside is None:
        return None
    texts = inside.write_solutions(asked.shared, distinct=False)
    latest = find_latest([compile_solutions(one, work) for one in texts], asked.shared, known)
    if latest is None or latest.standing is None or set(latest.standing.key) != set(asked.shared):
        return None
    static, joined = (compile_one(one).union for one in (asked.static, asked.joined))
    if is_timed(static, known) or not static.disjuncts or not joined.disjuncts:
        return None
    stream, _ = find_stream(latest, known)
    first = work.first_moment([stream.name])
    union = pad_solutions(asked, (static, joined, latest), first, known)
    incomplete = tuple(dict.fromkeys(r for one in made for r in one.incomplete))
    return replace(made[0], union=union, incomplete=incomplete)


def _compile_split(text: str, split: SplitText, work: SolutionCompiler) -> SpjUnion:
    """The query that its solutions are made into."""
    name, known = work.name, work.catalog
    if (stays := compile_open(text, work)) is not None:
        return stays
    if split.around is None:
        head, distinct, around = split.head, split.distinct, None
    else:
        around = parse_query(split.around, name=name, file=work.file, late=split.late)[0]
        head, distinct = list_needed(around), around.distinct
    texts = split.write_solutions(head, distinct=distinct)
    solutions = [
        compile_solutions(one, work._replace(name=f"{name}_{n}")) for n, one in enumerate(texts)
    ]
    if solutions and not any(one.found.disjuncts for one in solutions):
        branches = parse_query(texts[0].text, name=name, file=work.file)
        nothing = tell_nothing(branches, head, around, work.branches)
        groups = nothing.aggregation
        if nothing.disjuncts or groups is None or groups.group:
            return nothing
    asked = Asked(split, solutions, head, distinct, around)
    met = None
    with suppress(BucketError):  # of a time of what was met
        met = meet_solutions(asked, known)
    if met is not None and not keeps_more(solutions[0], known):
        return met
    try:
        return unite_asked(text, asked, work)
    except QueryError:
        if met is None:
            raise
        return met
