"""What stands in runs among the columns by which rows are grouped, or parted."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.runs.list_rising_columns import (
    Keys,
    list_levels,
    list_rising_columns,
)
from ontoweir.rewriter.runs.tells_changes import list_told_changes
from ontoweir.rewriter.windows.read_sql_grid import read_grid_or_day, read_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Runs:
    """`key`: columns; `run`: values, of which equal ones are next to each other among the rows of a
    key, so that there is a run for each. `told`: columns that have one value in each run; `alike`:
    rows of one key and time are of one run, too."""

    key: tuple[str, ...]
    run: "tuple[exp.Expr, ...]"
    told: frozenset[str] = frozenset()
    alike: bool = False


def split_runs(trees: "Sequence[exp.Expr]", stream: Stream, scope: Scope) -> Runs | None:
    """Of columns and computed values of a stream's rows those that stand in runs, and the key that
    the others are (None: none stands in runs, or another is computed): docs/theory.md, section 12.

    Args:
        trees: what rows are grouped by.
        stream: of rows that have met those before them.
        scope: with it.
    """
    from sqlglot import exp

    catalog = scope.catalog
    if stream.name not in catalog.preceding:
        return None
    names = [_name(tree, scope) for tree in trees]
    plain = {name for name in names if name is not None}
    rising = list_rising_columns(stream, catalog)
    for place, tree in enumerate(trees):
        column = _read_rising(tree, scope)
        key = None if column in (None, stream.timestamp) else rising.get(column or "")
        with_it, told, alike = set[str](), frozenset[str](), False
        if key is not None and column is not None:
            alone = isinstance(tree.unnest(), exp.Column)
            told = list_told_changes(stream, column, catalog) if alone else told
            with_it = {*told, *_list_rising_so(plain, rising, key, stream.timestamp)} - {column}
            alike = _is_of_times(stream, column, catalog) and not with_it & plain
        elif (found := _read_difference(tree, stream, scope)) is not None:
            key, with_it = found
        if key is None or not key <= plain or not {*with_it} & plain <= plain - key:
            continue
        run = [t for n, t in enumerate(trees) if n == place or names[n] in with_it]
        left = [name for n, name in enumerate(names) if n != place and name not in with_it]
        if None not in left:
            own = tuple(dict.fromkeys(name for name in left if name is not None))
            return Runs(own, tuple(run), told, alike)
    return None


def _list_rising_so(plain: set[str], rising: Keys, key: frozenset[str], timestamp: str) -> set[str]:
    """Other columns that never fall in the rows of a key."""
    return {n for n in plain - key if n in rising and rising[n] <= key and n != timestamp}


def _is_of_times(stream: Stream, column: str, catalog: Catalog) -> bool:
    """Whether rows of one key and time have one value of a column that counts them."""
    for _, meeting in list_levels(stream, catalog):
        if (counted := next((c for c in meeting.columns if c.name == column), None)) is not None:
            return counted.peers and not meeting.ties
    return False


def _name(tree: "exp.Expr", scope: Scope) -> str | None:
    """The column that it is."""
    from sqlglot import exp

    tree = tree.unnest()
    if not isinstance(tree, exp.Column):
        return None
    try:
        return scope.resolve(tree.table or None, tree.name, line_of(tree)).column
    except SqlRefusal:
        return None


def _read_rising(tree: "exp.Expr", scope: Scope) -> str | None:
    """The column that a value never falls with: itself, or a bucket of such a time."""
    from sqlglot import exp

    if (name := _name(tree, scope)) is not None:
        return name
    try:
        found = read_grid_or_day(tree)
    except SqlRefusal:
        return None
    if found is None:
        return None
    time, grid = found[0].unnest(), found[1]
    match grid:
        case FixedBuckets():
            pass
        case CalendarBuckets(zone="UTC"):
            pass
        case _:
            return None  # where a clock is put back its times fall
    if isinstance(time, (exp.Add, exp.Sub)) and isinstance(time.expression, exp.Interval):
        time = time.this.unnest() if read_interval(time.expression) is not None else time
    return _name(time, scope)


def _read_difference(
    tree: "exp.Expr", stream: Stream, scope: Scope
) -> tuple[frozenset[str], set[str]] | None:
    """The key, and the other columns with which the difference of a row's number among the rows of
    the key, and among those that are alike in these too, is the same in rows that follow each
    other, and in no others."""
    from sqlglot import exp

    tree = tree.unnest()
    if not isinstance(tree, exp.Sub):
        return None
    numbers = {}
    for _, meeting in list_levels(stream, scope.catalog):
        for counted in meeting.columns:
            cut = meeting.within or meeting.run or meeting.ties
            plain = counted.argument is None and not cut
            if counted.function == "count" and counted.runs and plain and not counted.last:
                numbers[counted.name] = frozenset(meeting.key)
    sides = [_name(side, scope) for side in (tree.this, tree.expression)]
    of = [numbers.get(side or "") for side in sides]
    if of[0] is None or of[1] is None or not of[0] < of[1]:
        return None
    return of[0], {*of[1] - of[0]}
