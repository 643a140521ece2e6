"""Joins of rows of windows with the latest, or the first, rows of keys, in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joined.place_registers import (
    Register,
    find_register,
    join_registers,
    read_register,
)
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.latest.number_around import number_around
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
    registers: list[Register] = field(default_factory=list)
    """The static relations that are joined within it."""

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
    registers: list[Register] = []
    where = tree.args.get("where")
    said: list[tuple[exp.Expr, Part | Register | None]] = []
    said += [] if where is None else [(c, None) for c in split_conjuncts(where.this)]
    for join, item in [(None, tree.args["from_"].this), *((j, j.this) for j in joins)]:
        found: Part | Register | None = read_register(item, catalog) or _list_part(item, catalog)
        known = [*(p.alias.lower() for p in parts), *(r.alias.lower() for r in registers)]
        if found is None or found.alias.lower() in known or not is_plain(item):
            return None
        if isinstance(found, Register):
            if join is not None and str(join.args.get("side") or ""):
                return None  # its rows without a partner would be of the join
            registers.append(found)
        else:
            parts.append(found)
        if join is not None and not _is_read(join, found):
            return None
        on = None if join is None else join.args.get("on")
        said += [] if on is None else [(c, found) for c in split_conjuncts(on)]
    if len(parts) < 2 or not any(isinstance(p.item, exp.Subquery) for p in parts):
        return None
    reader = _Reader(parts, registers)
    ok = not registers or reader.place([c for c in said if reader.is_registered(c)])
    for condition, of in said if ok else ():
        number = next((n for n, p in enumerate(parts) if p is of), None)
        ok = ok and (reader.is_registered((condition, of)) or reader.put(condition, number))
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


def _is_read(join: "exp.Expr", part: Part | Register) -> bool:
    """Whether a join is an inner one, or LEFT."""
    side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
    more = {k for k, v in join.args.items() if v} - {"this", "on", "side", "kind"}
    if isinstance(part, Part):
        part.left = side == "LEFT"
    return not more and side in ("", "LEFT") and kind in ("", "INNER", "OUTER", "CROSS")


def _is_whole(part: Part) -> bool:
    """Whether the rows of a part come and go by themselves."""

    return not part.is_table or any(has_now(c) for c in part.said)


class _Reader:
    """Puts conditions where they belong."""

    def __init__(self, parts: list[Part], registers: list[Register]) -> None:
        self.parts, self.registers = parts, registers

    def _register(self, column: "exp.Column") -> Register | None:
        return find_register(column, self.registers, [[*p.names] for p in self.parts])

    def is_registered(self, said: "tuple[exp.Expr, Part | Register | None]") -> bool:
        """Whether it reads a static relation, or is said of one."""
        from sqlglot import exp

        columns = said[0].find_all(exp.Column)
        return isinstance(said[1], Register) or any(self._register(c) for c in columns)

    def place(self, said: "Sequence[tuple[exp.Expr, Part | Register | None]]") -> bool:
        """Whether each static relation is joined with the rows of one part, by these conditions;
        there it is then joined."""
        from sqlglot import exp

        beside: dict[str, set[int]] = {r.alias: set() for r in self.registers}
        for condition, of in said:
            columns = list(condition.find_all(exp.Column))
            read = [self._register(c) for c in columns]
            named = {r.alias: r for r in read if r is not None}
            others = [
                f for c, r in zip(columns, read, strict=True) if r is None for f in [self.find(c)]
            ]
            if condition.find(exp.Query) or len(named) != 1 or None in others:
                return False
            (register,) = named.values()
            if isinstance(of, Part) and of.left:
                return False
            if isinstance(of, Register) and of is not register:
                return False
            made = condition.copy()
            for column, found in zip(list(made.find_all(exp.Column)), read, strict=True):
                if found is None:
                    self._name(column)
                else:
                    column.set("table", exp.to_identifier(found.alias))
            register.said.append(made)
            beside[register.alias] |= {f[0] for f in others if f is not None}
        for register in self.registers:
            if len(beside[register.alias]) != 1:
                return False
            part = self.parts[beside[register.alias].pop()]
            if part.left:
                return False  # rows without a partner would have one
            part.registers.append(register)
        return True

    def _name(self, column: "exp.Column") -> None:
        """Say of which part a column is, in its words; in place."""
        from sqlglot import exp

        found = self.find(column)
        assert found is not None
        column.set("this", exp.to_identifier(found[1], quoted=True))
        column.set("table", exp.to_identifier(self.parts[found[0]].alias, quoted=True))

    def find(self, column: "exp.Expr") -> tuple[int, str] | None:
        """The part of a column, and what it is called there."""
        from sqlglot import exp

        if not isinstance(column, exp.Column) or column.is_star:
            return None
        of, name = column.table.lower(), column.name.lower()
        if (register := self._register(column)) is not None:
            places = [n for n, p in enumerate(self.parts) if register in p.registers]
            return (places[0], register.column(register.names[name])) if places else None
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
                self._name(column)
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
            if item.is_star and self.registers:
                return None
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
    of = {r.column(n): (r.alias, n) for r in part.registers for n in r.names.values()}
    read = [(n, *of.get(n, (part.alias, n))) for n in wanted]
    items = [exp.alias_(exp.column(c, a, quoted=True), n, quoted=True) for n, a, c in read]
    if isinstance(part.item, exp.Table):
        table = part.item.copy()
        table.set("alias", alias)
        made = exp.Select(expressions=items, from_=exp.From(this=table))
        made = join_registers(made, part.registers)
        return made.where(*part.said, copy=False)
    inner: exp.Select = part.item.this.copy()
    if not part.said and not part.registers and _shows(inner, wanted):
        return inner
    made = exp.Select(expressions=items, from_=exp.From(this=inner.subquery(part.alias)))
    below = inner.args["from_"].this if inner.args.get("from_") is not None else None
    made = number_around(made) if isinstance(below, exp.Table) else made
    if inner.args.get("qualify") is None:
        rows, limits = _open_numbers(inner, part.alias)
        made.set("from_", exp.From(this=rows.subquery(part.alias)))
        made = made.where(*limits, copy=False) if limits else made
    made = join_registers(made, part.registers)
    return made.where(*part.said, copy=False) if part.said else made


def _shows(select: "exp.Select", wanted: "list[str]") -> bool:
    """Whether its columns are known, those that are wanted among them."""
    shown = [e.alias_or_name for e in select.expressions if not e.is_star]
    return len(shown) == len(select.expressions) and set(wanted) <= set(shown)


def _open_numbers(inner: "exp.Select", alias: str) -> "tuple[exp.Select, list[exp.Expr]]":
    """Rows with their number, of which a SELECT says which are asked for, and that, said around
    them; else the rows as they are."""
    from sqlglot import exp

    start = inner.args.get("from_")
    below = None if start is None else start.this
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


def _is_own(item: "exp.Expr") -> bool:
    """Whether it is a column by its own name, or all."""
    from sqlglot import exp

    return item.is_star or (isinstance(item, exp.Column) and not item.args.get("alias"))
