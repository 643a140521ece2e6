"""Expressions of one row become columns: what follows reads columns, as of any table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.derive_column import add_derived, derive_column
from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import BooleanType, Catalog, FloatType, TimestampType
from ontoweir.mappings.model.expression import Expression, Field, Value, fields_of
from ontoweir.mappings.sql.read_condition import read_condition
from ontoweir.mappings.sql.read_expression import is_text
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SeveralRows, SqlRefusal
from ontoweir.mappings.sql.read_select import read_projection
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_row_expression import (
    read_row_expression,
    refuse_expression,
)

if TYPE_CHECKING:
    from sqlglot import exp


class ColumnDeriver:
    """Puts columns in the place of expressions, in one SELECT; `derived`: by their tables, in
    order; `mapping`: of a mapping's SQL."""

    def __init__(self, scope: Scope, *, mapping: bool = False) -> None:
        self.scope, self.mapping = scope, mapping
        self.derived: dict[tuple[str, Expression], None] = {}
        self.choices: list[tuple[exp.Expr, exp.Expr]] = []

    @property
    def catalog(self) -> Catalog:
        """The catalog with what is derived so far."""
        return add_derived(self.scope.catalog, self.derived)

    def replace_values(self, tree: exp.Expr) -> exp.Expr:
        """An item of SELECT or GROUP BY, or an aggregate's argument, as a column; of what has
        aggregates, their arguments.

        Raises:
            SqlRefusal: it is no expression that is read, or one of several rows.
        """
        from sqlglot import exp

        calls = list(tree.find_all(exp.AggFunc))
        for call in calls:
            for key in ("this", "expression"):
                self._replace_argument(call, key)
        if calls or tree.find(exp.Star):
            return tree
        if _is_plain(tree):
            return tree.unnest()
        return self._replace_parts(tree) if self.mapping else self.derive(tree)

    def _replace_parts(self, tree: exp.Expr) -> exp.Expr:
        """A column, or the text that a mapping makes of columns (read_expression)."""
        from sqlglot import exp

        if isinstance(tree, exp.Paren):
            return self._replace_parts(tree.this)
        if is_text(tree):
            for key in ("this", "expression"):
                if isinstance(tree.args.get(key), exp.Expr):
                    tree.set(key, self._replace_parts(tree.args[key]))
            if tree.expressions:
                tree.set("expressions", [self._replace_parts(e) for e in tree.expressions])
            return tree
        return tree if _is_plain(tree) else self.derive(tree)

    def _replace_argument(self, call: exp.Expr, key: str) -> None:
        from sqlglot import exp

        inner = call.args.get(key)
        if isinstance(inner, exp.Distinct):
            inner.set("expressions", [self.replace_values(e) for e in inner.expressions])
        elif isinstance(inner, exp.Expr):
            call.set(key, self.replace_values(inner))

    def replace_condition(self, tree: exp.Expr) -> exp.Expr:
        """A condition as one of comparisons of columns, constants and column + constant.

        Raises:
            SqlRefusal: it has an expression that is not read, or one of several rows.
        """
        from sqlglot import exp

        match tree:
            case exp.Not() if isinstance(tree.this.unnest(), exp.And):
                return self._replace_either(tree)
            case exp.Not() if isinstance(tree.this.unnest(), exp.Not):
                return self.replace_condition(tree.this.unnest().this.copy())
            case exp.Paren() | exp.Not():
                tree.set("this", self.replace_condition(tree.this))
                return tree
            case exp.And():
                for key in ("this", "expression"):
                    tree.set(key, self.replace_condition(tree.args[key]))
                return tree
            case exp.Or():
                return self._replace_either(tree)
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                if self._moves_times(tree):
                    return self.derive(tree, boolean=True)
                self._replace_sides(tree)
                return tree
            case exp.Between() | exp.In() if self._moves_times(tree):
                return self.derive(tree, boolean=True)
            case exp.Between() | exp.In() if tree.find(exp.Select) is None:
                self._replace_limits(tree)
                return tree
            case exp.Boolean() | exp.Column() | exp.Null():
                return tree
            case _ if tree.find(exp.Select):
                return tree
            case exp.Is() if isinstance(tree.expression, exp.Null) and self._is_time(tree.this):
                return exp.false()
            case exp.Is() if isinstance(tree.expression, exp.Null) and _is_negated(tree):
                whole = tree.this.copy()
                tree.set("this", self._replace_side(tree.this))
                if not _is_plain(tree.this):
                    raise self._several(whole)
                return tree
        return self.derive(tree, boolean=True)

    def _replace_limits(self, tree: exp.Expr) -> None:
        """All sides of BETWEEN and IN."""
        from sqlglot import exp

        whole = tree.copy()
        tree.set("this", self._replace_side(tree.this))
        limits = [tree.args[key] for key in ("low", "high") if tree.args.get(key) is not None]
        for limit in (*limits, *tree.expressions):
            limit.replace(self._replace_side(limit))
        if isinstance(tree, exp.In):
            several = not _is_plain(tree.this)
        else:
            sides = (tree.args["low"], tree.args["high"])
            several = any(max(_count_terms(tree.this, side)) > 1 for side in sides)
        if several and not self._times(whole):
            raise self._several(whole)

    def _replace_either(self, tree: exp.Expr) -> exp.Expr:
        """OR, or NOT of AND; `settle_choices` says later whether it can be read so."""
        whole = tree.copy()
        if len(self._aliases(whole)) == 1:
            self.choices.append((tree, whole))
        for key in ("this", "expression"):
            if tree.args.get(key) is not None:
                tree.set(key, self.replace_condition(tree.args[key]))
        return tree

    def settle_choices(self, select: exp.Select, *, bag: bool) -> None:
        """Make each OR of one row that cannot be split into parts (read_condition) one truth value.

        Args:
            select: what it is in; all else is replaced already.
            bag: duplicates count.
        """
        from sqlglot import exp

        if not self.choices:
            return
        scope = self.make_scope(self.scope.known)
        aggregated = select.args.get("group") or any(
            e.find(exp.AggFunc) for e in select.expressions
        )
        if not aggregated and not self.mapping:  # what is selected is not NULL
            scope.known = frozenset(
                c
                for e in select.expressions
                for _, c in read_projection(e, scope)
                if isinstance(c, SourceColumn) and not is_nullable(scope.tables[c.alias], c.column)
            )
        where = select.args.get("where")
        ons = [j.args["on"] for j in select.args.get("joins") or () if j.args.get("on") is not None]
        scope.conjuncts = (*ons, *(() if where is None else (where.this,)))
        replaced: list[exp.Expr] = []
        for tree, whole in self.choices:
            if any(tree is n for outer in replaced for n in outer.walk()):
                continue
            try:
                read_condition(tree, scope, bag=bag or self.mapping)
            except SqlRefusal:
                tree.replace(self.derive(whole, boolean=True))
                replaced.append(tree)

    def make_scope(self, known: frozenset[SourceColumn]) -> Scope:
        """The names with what is derived so far; `known`: columns that are not NULL."""
        catalog = self.catalog
        tables = {a: catalog.table(t.name) for a, t in self.scope.tables.items()}
        return Scope(catalog, tables, known, (), self.scope.merged)

    def _replace_sides(self, tree: exp.Expr) -> None:
        """Both sides of a comparison; sums of columns of two rows stay."""
        from sqlglot import exp

        sides = {key: tree.args[key] for key in ("this", "expression")}
        if all(_is_sum(s) for s in sides.values()):
            counts = _count_terms(sides["this"], sides["expression"])
            # a sum with doubles is rounded: it is computed as written, not moved to the other side
            sums = [s for s in sides.values() if s.find(exp.Add, exp.Sub) is not None]
            if max(counts) <= 1 and (_is_below_sum(tree) or not any(map(self._reads_floats, sums))):
                return
        whole = tree.copy()
        for key, side in sides.items():
            tree.set(key, self._replace_side(side))
        if max(_count_terms(tree.this, tree.expression)) > 1 and not self._times(whole):
            raise self._several(whole)  # more than a column of one row and one of another

    def _reads_floats(self, tree: exp.Expr) -> bool:
        return any(
            self.scope.step_of(c) is None and isinstance(self.scope.type_of(c), FloatType)
            for c in self._columns(tree)
        )

    def _replace_side(self, side: exp.Expr) -> exp.Expr:
        from sqlglot import exp

        if _is_plain(side) or (self._times(side) and _is_sum(side)):
            return side
        if len(self._aliases(side)) <= 1:
            return self.derive(side)
        if isinstance(side, exp.Paren):
            side.set("this", self._replace_side(side.this))
            return side
        if isinstance(side, (exp.Add, exp.Sub)) and not self._reads_floats(side):
            for key in ("this", "expression"):
                side.set(key, self._replace_side(side.args[key]))
            return side
        raise self._several(side)

    def derive(self, tree: exp.Expr, *, boolean: bool = False) -> exp.Expr:
        """The column of an expression; of one that reads no column, its value.

        Raises:
            SqlRefusal: it is not read, or of several rows.
        """
        from sqlglot import exp

        aliases = self._aliases(tree)
        if len(aliases) > 1:
            raise self._several(tree)
        expression = read_row_expression(tree, self.scope)
        if boolean and not isinstance(expression.type, BooleanType):
            raise refuse_expression(tree, why="it is a condition, and not true or false")
        if not fields_of(expression):
            return _constant(expression, tree)
        (alias,) = aliases
        if isinstance(expression, Field):  # CAST to the type that a column has
            name = expression.column
        else:
            self.derived[self.scope.tables[alias].name, expression] = None
            name = derive_column(expression, ()).name
        line = line_of(tree)
        made = exp.column(name, alias, quoted=True)
        if line is not None:
            made.this.meta["line"] = line
        return made

    def _columns(self, tree: exp.Expr) -> Iterator[SourceColumn]:
        from sqlglot import exp

        for column in tree.find_all(exp.Column):
            yield self.scope.resolve(column.table or None, column.name, line_of(column))

    def _aliases(self, tree: exp.Expr) -> set[str]:
        return {c.alias for c in self._columns(tree)}

    def _times(self, tree: exp.Expr) -> bool:
        """Whether it reads a stream's timestamp."""
        return any(self.scope.step_of(c) is not None for c in self._columns(tree))

    def _is_time(self, tree: exp.Expr) -> bool:
        """Whether it is a stream's timestamp plus or minus an INTERVAL, which is never NULL."""
        return not _is_plain(tree) and self._times(tree) and _is_sum(tree)

    def _moves_times(self, tree: exp.Expr) -> bool:
        """Whether it compares times of one row, of which one at least is no stream's timestamp, and
        an INTERVAL; or times of the day."""
        from sqlglot import exp

        if tree.find(exp.Select) is not None:
            return False
        columns = list(self._columns(tree))
        if any(c.to.is_type("time") for c in tree.find_all(exp.Cast, exp.TryCast)):
            return len({c.alias for c in columns}) == 1
        if tree.find(exp.Interval) is None:
            return False
        plain = [c for c in columns if self.scope.step_of(c) is None]
        times = any(isinstance(self.scope.type_of(c), TimestampType) for c in plain)
        return times and len({c.alias for c in columns}) == 1

    def _several(self, tree: exp.Expr) -> SeveralRows:
        names = " and ".join(sorted(self._aliases(tree)))
        if _is_sum(tree) and self._reads_floats(tree):
            return SeveralRows(
                f"{show_sql(tree)} adds or subtracts doubles of several rows, of {names}",
                why="such a sum is rounded: with a part of it moved to the other side, other "
                "numbers would be compared",
                fix="compare the doubles of one row with those of the other, as in a.x > b.y + 5; "
                "or declare decimal(p,s)",
                line=line_of(tree),
            )
        return SeveralRows(
            f"{show_sql(tree)} computes with columns of several rows, of {names}",
            why="an expression is of one row: a value of two rows would need all pairs of them",
            fix="compare an expression of one row with an expression of the other, as in "
            "a.x * 2 > b.y + 5 or a.x - b.y > 5; in SELECT select the columns, and compute with "
            "them in the results",
            line=line_of(tree),
        )


def _is_plain(tree: exp.Expr) -> bool:
    """Whether it is a column or a constant."""
    from sqlglot import exp

    inner = tree.unnest()
    return isinstance(inner, (exp.Column, exp.Star, exp.Null)) or read_literal(inner) is not None


def _is_negated(tree: exp.Expr) -> bool:
    """IS NOT NULL is NOT … IS NULL."""
    from sqlglot import exp

    parent = tree.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Not)


def _is_sum(tree: exp.Expr) -> bool:
    """Whether it is a sum of columns, constants and intervals, as comparisons read it."""
    from sqlglot import exp

    waiting = [tree]  # a chain of a thousand terms is as deep
    while waiting:
        inner = waiting.pop().unnest()
        if isinstance(inner, (exp.Add, exp.Sub)):
            waiting += [inner.this, inner.expression]
        elif not (isinstance(inner, exp.Interval) or _is_plain(inner)):
            return False
    return True


def _is_below_sum(tree: exp.Expr) -> bool:
    """Whether a column is compared as less than a column plus or minus a constant, which is how
    such a comparison is made: nothing is moved to the other side."""
    from sqlglot import exp

    if not isinstance(tree, (exp.LT, exp.LTE)):
        return False
    less, more = tree.this.unnest(), tree.expression.unnest()
    if not isinstance(less, exp.Column) or not isinstance(more, (exp.Add, exp.Sub)):
        return False
    column, number = more.this.unnest(), more.expression.unnest()
    return isinstance(column, exp.Column) and read_literal(number) is not None


def _count_terms(left: exp.Expr, right: exp.Expr) -> tuple[int, int]:
    """How many columns a comparison of sums has with either sign, on one side of it."""
    from sqlglot import exp

    counts = [0, 0]
    waiting = [(left, 0), (right, 1)]
    while waiting:
        tree, sign = waiting.pop()
        inner = tree.unnest()
        if isinstance(inner, (exp.Add, exp.Sub)):
            turned = sign if isinstance(inner, exp.Add) else 1 - sign
            waiting += [(inner.this, sign), (inner.expression, turned)]
        elif isinstance(inner, exp.Column):
            counts[sign] += 1
    return counts[0], counts[1]


def _constant(expression: Expression, tree: exp.Expr) -> exp.Expr:
    """The value of an expression that reads no column, as a constant of SQL."""
    from sqlglot import exp, parse_one

    from ontoweir.mappings.expressions.evaluate import evaluate
    from ontoweir.mappings.expressions.write_expression import write_expression

    made = evaluate(expression, {}, 1)[0].as_py()
    if made is None:
        return exp.Null()
    if isinstance(expression.type, BooleanType):
        return exp.Boolean(this=made)
    if isinstance(expression.type, FloatType):
        raise refuse_expression(
            tree, why="a constant that is a double has no exact decimal", fix="write the constant"
        )
    text = str(made) if not hasattr(made, "isoformat") else made.isoformat()
    return parse_one(write_expression(Value(text, expression.type)), dialect="spark")
