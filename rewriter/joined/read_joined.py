"""Joins of rows of windows with the latest, or the first, rows of keys, in SQL."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.latest.read_limit import read_limits
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "distinct"}
_COMPARED = ("EQ", "NEQ", "LT", "LTE", "GT", "GTE")


@dataclass
class Part:
    """A part of a join. `item`: what FROM has there; `names`: its columns, in lower case, with how
    they are written; `said`: what holds of its own rows; `compared`: of it and parts before it, as
    (part, column), operator, (part, column); `wanted`: the columns of it that are needed."""

    alias: str
    item: "exp.Expr"
    names: dict[str, str]
    left: bool = False
    said: "list[exp.Expr]" = field(default_factory=list)
    compared: list[tuple[tuple[int, str], str, tuple[int, str]]] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)

    @property
    def is_table(self) -> bool:
        """Whether it is a stream, and not a subquery."""
        from sqlglot import exp

        return isinstance(self.item, exp.Table)


@dataclass(frozen=True)
class JoinedSql:
    """`parts`, and what is shown, by name: the part's number and its column."""

    parts: list[Part]
    shown: list[tuple[str, int, str]]
    distinct: bool


def read_joined(tree: "exp.Query", catalog: Catalog) -> JoinedSql | None:
    """A SELECT of a stream in a window, and subqueries of the latest or the first rows of keys, of
    which there is one at least, joined by equal columns and comparisons (None: another query)."""
    from sqlglot import exp

    tree = open_with(tree)
    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - _READ:
        return None
    joins = tree.args.get("joins") or ()
    distinct = tree.args.get("distinct")
    if not joins or aggregates(tree) or (distinct is not None and distinct.args.get("on")):
        return None
    parts: list[Part] = []
    for join, item in [(None, tree.args["from_"].this), *((j, j.this) for j in joins)]:
        found = _list_part(item, catalog)
        if found is None or found.alias.lower() in [p.alias.lower() for p in parts]:
            return None
        parts.append(found)
        if join is not None and not _is_read(join, found):
            return None
    if not any(isinstance(p.item, exp.Subquery) for p in parts):
        return None
    reader = _Reader(parts)
    where = tree.args.get("where")
    said = [] if where is None else list(split_conjuncts(where.this))
    ok = all(reader.put(c, None) for c in said)
    for n, join in enumerate(joins, 1):
        on = join.args.get("on")
        ok = ok and all(reader.put(c, n) for c in ([] if on is None else split_conjuncts(on)))
    shown = reader.list_shown(tree.expressions) if ok else None
    if shown is None or not all(_is_whole(p) for p in parts):
        return None
    return JoinedSql(parts, shown, distinct is not None)


def _list_part(item: "exp.Expr", catalog: Catalog) -> Part | None:
    from sqlglot import exp

    if not is_plain(item) or not item.alias_or_name:
        return None
    if isinstance(item, exp.Table):
        name = find_name(item.name, [*catalog.streams])
        stream = None if name is None else catalog.table(name)
        if not isinstance(stream, Stream) or stream.versions:
            return None
        own = {c.lower(): c for c in column_names(stream)}
        return Part(item.alias_or_name, item, own)
    if not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Select):
        return None
    inner = item.this
    if inner.args.get("joins") or not inner.find(exp.Window, exp.ArgMax, exp.ArgMin):
        return None
    names = _list_names(inner, catalog)
    return None if names is None else Part(item.alias, item, names)


def _list_names(inner: "exp.Select", catalog: Catalog) -> dict[str, str] | None:
    """The columns of a subquery over one table, or over one over it."""
    from sqlglot import exp

    names: dict[str, str] = {}
    start = inner.args.get("from_")
    for item in inner.expressions:
        if not item.is_star:
            if not item.alias_or_name:
                return None
            names[item.alias_or_name.lower()] = item.alias_or_name
            continue
        below = None if start is None else start.this
        if isinstance(below, exp.Subquery) and isinstance(below.this, exp.Select):
            known = _list_names(below.this, catalog)
        else:
            known = _list_columns(below, catalog)
        if known is None:
            return None
        names |= known
    return names


def _list_columns(table: "exp.Expr | None", catalog: Catalog) -> dict[str, str] | None:
    name = None if table is None else find_name(table.name, [*catalog.streams])
    return None if name is None else {c.lower(): c for c in column_names(catalog.table(name))}


def _is_read(join: "exp.Expr", part: Part) -> bool:
    """Whether a join is an inner one, or LEFT."""
    side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
    more = {k for k, v in join.args.items() if v} - {"this", "on", "side", "kind"}
    part.left = side == "LEFT"
    return not more and side in ("", "LEFT") and kind in ("", "INNER", "OUTER", "CROSS")


def _is_whole(part: Part) -> bool:
    """Whether the rows of a part come and go by themselves."""

    return not part.is_table or any(has_now(c) for c in part.said)


class _Reader:
    """Puts conditions where they belong."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    def find(self, column: "exp.Expr") -> tuple[int, str] | None:
        """The part of a column, and what it is called there."""
        from sqlglot import exp

        if not isinstance(column, exp.Column) or column.is_star:
            return None
        of, name = column.table.lower(), column.name.lower()
        found = [
            (n, p.names[name])
            for n, p in enumerate(self.parts)
            if of in ("", p.alias.lower()) and name in p.names
        ]
        return found[0] if len(found) == 1 else None

    def want(self, column: "exp.Expr") -> tuple[int, str]:
        """Take note that a column is needed, which is one of a part's."""
        found = self.find(column)
        assert found is not None
        if found[1] not in self.parts[found[0]].wanted:
            self.parts[found[0]].wanted.append(found[1])
        return found

    def put(self, condition: "exp.Expr", join: int | None) -> bool:
        """Whether a condition is read: of one part, or a comparison of two columns; `join`: it is
        said of this one."""
        from sqlglot import exp

        condition = condition.unnest()
        if condition.find(exp.Query):
            return False
        columns = list(condition.find_all(exp.Column))
        places = {f[0] for c in columns if (f := self.find(c)) is not None}
        if any(self.find(c) is None for c in columns) or not places:
            return False
        (last, *_) = sorted(places, reverse=True)
        if len(places) == 1:
            if join is None and self.parts[last].left:
                return False
            if join is not None and join != last and self.parts[join].left:
                return False
            made = condition.copy()
            for column in made.find_all(exp.Column):
                found = self.find(column)
                assert found is not None
                column.set("this", exp.to_identifier(found[1], quoted=True))
                column.set("table", exp.to_identifier(self.parts[last].alias, quoted=True))
            self.parts[last].said.append(made)
            return True
        plain = type(condition).__name__ in _COMPARED
        sides = (condition.this, condition.expression) if plain else ()
        if not sides or not all(isinstance(s.unnest(), exp.Column) for s in sides):
            return False
        place = last if join is None else join
        if last > place or (join is None and any(self.parts[p].left for p in places)):
            return False
        one, other = (self.want(s.unnest()) for s in sides)
        self.parts[place].compared.append((one, type(condition).__name__, other))
        return True

    def list_shown(self, items: "list[exp.Expr]") -> list[tuple[str, int, str]] | None:
        """The columns that are shown (None: others are)."""
        from sqlglot import exp

        shown: list[tuple[str, int, str]] = []
        for item in items:
            column = item.unalias()
            if item.is_star:
                of = item.table.lower() if isinstance(item, exp.Column) else ""
                for n, part in enumerate(self.parts):
                    if of in ("", part.alias.lower()):
                        shown += [(c, n, c) for c in part.names.values()]
                continue
            found = self.find(column)
            if found is None:
                return None
            shown.append((item.alias_or_name, *found))
        for _, n, name in shown:
            if name not in self.parts[n].wanted:
                self.parts[n].wanted.append(name)
        names = [name.lower() for name, *_ in shown]
        return shown if len(set(names)) == len(names) else None


def write_part(part: Part) -> "exp.Select":
    """The query of a part's rows, of the columns that are needed."""
    from sqlglot import exp

    alias = exp.TableAlias(this=exp.to_identifier(part.alias, quoted=True))
    wanted = part.wanted or list(part.names.values())[:1]
    items = [exp.alias_(exp.column(n, part.alias, quoted=True), n, quoted=True) for n in wanted]
    if isinstance(part.item, exp.Table):
        table = part.item.copy()
        table.set("alias", alias)
        made = exp.Select(expressions=items, from_=exp.From(this=table))
        return made.where(*part.said, copy=False)
    inner: exp.Select = part.item.this.copy()
    if not part.said and _shows(inner, wanted):
        return inner
    rows, limits = _open_numbers(inner, part.alias)
    made = exp.Select(expressions=items, from_=exp.From(this=rows.subquery(part.alias)))
    return made.where(*limits, *part.said, copy=False) if limits or part.said else made


def _shows(select: "exp.Select", wanted: "list[str]") -> bool:
    """Whether its columns are known, those that are wanted among them."""
    shown = [e.alias_or_name for e in select.expressions if not e.is_star]
    return len(shown) == len(select.expressions) and set(wanted) <= set(shown)


def _open_numbers(inner: "exp.Select", alias: str) -> "tuple[exp.Select, list[exp.Expr]]":
    """Rows with their number, and which numbers are asked for, said around them; else the rows as
    they are."""
    from sqlglot import exp

    start, qualify = inner.args.get("from_"), inner.args.get("qualify")
    below = None if start is None else start.this
    number = exp.column(_NUMBER, alias, quoted=True)
    if qualify is not None and isinstance(below, exp.Table):
        found = read_limits(list(split_conjuncts(qualify.this)), {})
        if found is None or found.rest:
            return inner, []
        made = inner.copy()
        made.set("qualify", None)
        made.append("expressions", exp.alias_(found.window.copy(), _NUMBER, quoted=True))
        least, most = (exp.Literal.number(n) for n in (found.least, found.limit))
        if found.least == found.limit:
            return made, [exp.EQ(this=number, expression=most)]
        return made, [exp.Between(this=number, low=least, high=most)]
    where = inner.args.get("where")
    plain = {k for k, v in inner.args.items() if v} <= {"expressions", "from_", "where"}
    if not plain or where is None or not isinstance(below, exp.Subquery):
        return inner, []
    rows = below.this
    if not isinstance(rows, exp.Select) or not all(_is_own(e) for e in inner.expressions):
        return inner, []
    said = [c.copy() for c in split_conjuncts(where.this)]
    for column in (c for one in said for c in one.find_all(exp.Column)):
        column.set("table", exp.to_identifier(alias, quoted=True))
    return rows.copy(), said


_NUMBER = "number of rows"


def _is_own(item: "exp.Expr") -> bool:
    """Whether it is a column by its own name, or all."""
    from sqlglot import exp

    return item.is_star or (isinstance(item, exp.Column) and not item.args.get("alias"))
