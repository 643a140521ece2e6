"""Subqueries over static relations that aggregate: relations that are computed before a run."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    IntType,
    Relation,
)
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables, open_names
from ontoweir.rewriter.phrasings.read_constants import name_relation, read_constants
from ontoweir.rewriter.syntax.show_statics import name_static

if TYPE_CHECKING:
    from sqlglot import exp

_DIGITS = 38
_PLAIN = {"kind", "expressions", "from_", "joins", "where", "group", "having"}


def read_statics(
    tree: "exp.Query", catalog: Catalog
) -> "tuple[exp.Query, Catalog, tuple[Relation, ...]]":
    """A query in which VALUES, and subqueries over static relations alone, with aggregates, are
    relations: a value, `(SELECT AVG(x) FROM r)`, is one of a row beside each, and a subquery in
    FROM, or in WITH, is read from it; the catalog with these relations; and the relations, whose
    rows a view computes.

    A subquery that names columns of the query around it stays as it is.

    Raises:
        SqlRefusal: SUM or AVG of doubles, whose order is not known.
    """
    from sqlglot import exp

    tree, constants = read_constants(tree, catalog)
    made = {relation.name: relation for relation in constants}
    catalog = replace(catalog, relations={**catalog.relations, **made})
    if not any(_is_inside(s) for s in tree.find_all(exp.Select)):
        return tree, catalog, constants
    tree = tree.copy()
    for select in [s for s in tree.find_all(exp.Select) if _is_inside(s)]:
        scope = _find_scope(select, catalog)
        if scope is None or not _can_stand(select):
            continue
        _refuse_changing(select)
        reader = _Reader(select, scope)
        items = [reader.read_item(item) for item in select.expressions]
        having = reader.read_having()
        view = reader.make_view()
        name = name_relation(catalog, view)
        read = items if having is None else [*items, having]
        for column in [c for item in read for c in item.find_all(exp.Column)]:
            column.set("table", exp.to_identifier(name))
        made[name] = reader.make_relation(name, view)
        around = select.parent
        assert around is not None
        if _is_table(around) or isinstance(around.parent, exp.In):
            select.replace(exp.select(*items).from_(exp.to_table(name)).where(having))
        else:
            _put_value(around, items[0].unalias(), name)
    catalog = replace(catalog, relations={**catalog.relations, **made})
    return tree, catalog, tuple(made.values())


def _is_inside(select: "exp.Select") -> bool:
    from sqlglot import exp

    around = select.parent
    if isinstance(around, exp.CTE):
        return True
    return isinstance(around, exp.Subquery) and around.parent is not None


def _is_table(around: "exp.Expr") -> bool:
    """Whether what is around a SELECT is in FROM, or is named by WITH."""
    from sqlglot import exp

    inside = isinstance(around.parent, (exp.From, exp.Join)) and around.arg_key == "this"
    return inside or isinstance(around, exp.CTE)


def _find_scope(select: "exp.Select", catalog: Catalog) -> Scope | None:
    """The static relations that a SELECT is over; None: it is over others, has no aggregate, names
    columns of a query around it, or is more than columns, aggregates, WHERE and GROUP BY."""
    from sqlglot import exp

    if {k for k, v in select.args.items() if v} - _PLAIN or (
        select.find(exp.Window, exp.Star)
        and (not all(isinstance(s.parent, exp.Count) for s in select.find_all(exp.Star)))
    ):
        return None
    if sum(1 for _ in select.find_all(exp.Select)) > 1 or not any(
        e.find(exp.AggFunc) for e in (*select.expressions, select.args.get("having") or exp.Null())
    ):
        return None
    if any(j.args.get("using") for j in select.args.get("joins") or ()):
        return None
    scope = list_tables(select, catalog)
    open_names(select, scope)
    tables = list(select.find_all(exp.Table))
    if len(scope.tables) != len(tables) or not tables:
        return None
    if not all(isinstance(t, Relation) for t in scope.tables.values()):
        return None
    try:
        for column in select.find_all(exp.Column):
            scope.resolve(column.table or None, column.name)
    except SqlRefusal:
        return None
    return scope


def _refuse_changing(select: "exp.Select") -> None:
    """Refuse what has another value whenever it is computed: a replay would not be as the run."""
    from sqlglot import exp

    changing = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Rand, exp.Uuid)
    for call in select.find_all(*changing, exp.Anonymous):
        if isinstance(call, changing) or call.name.upper() in ("NOW", "CURDATE"):
            raise SqlRefusal(
                f"{show_sql(call)} in a subquery over static relations",
                why="it is computed once, before a run, and a replay is as a run whenever it is",
                fix="write a constant, or compare with the time of the stream's rows outside",
                line=line_of(select),
            )


def _can_stand(select: "exp.Select") -> bool:
    """Whether it is in FROM, or is one value of one row, where such a row can be joined."""
    from sqlglot import exp

    around = select.parent
    assert around is not None
    if _is_table(around):
        names = around.args.get("alias")
        return isinstance(names, exp.TableAlias) and not names.args.get("columns")
    if isinstance(around.parent, exp.In) and around.arg_key == "query":
        return True
    if isinstance(around.parent, (exp.In, exp.Exists, exp.Any, exp.All, exp.SetOperation)):
        return False
    if select.args.get("having"):
        return False
    outer = around.find_ancestor(exp.Select, exp.Join)
    if not isinstance(outer, exp.Select) or select.args.get("group"):
        return False
    if outer.args.get("from_") is None:
        return False
    if len(select.expressions) != 1:
        return False
    calls = [c for e in outer.expressions for c in e.find_all(exp.AggFunc)]
    own = any(c.find_ancestor(exp.Select) is outer for c in calls)
    bare = own and not outer.args.get("group")
    return not (bare and around.find_ancestor(exp.Where) is None)


def _put_value(around: "exp.Expr", value: "exp.Expr", name: str) -> None:
    """A value of the one row of a relation in the place of a subquery, and the relation in FROM."""
    from sqlglot import exp

    outer = around.find_ancestor(exp.Select)
    assert outer is not None
    grouped = outer.args.get("group") is not None
    place: exp.Expr | None = around
    while place is not None and place.parent is not outer:
        grouped = grouped and not isinstance(place, (exp.AggFunc, exp.Filter))
        place = place.parent
    if grouped and place is not None and place.arg_key in ("expressions", "having"):
        for column in list(value.find_all(exp.Column)):
            column.replace(exp.Min(this=column.copy())) if column is not value else None
        value = exp.Min(this=value) if isinstance(value, exp.Column) else value
    if place is around and outer.args.get("expressions") and place in outer.expressions:
        value = exp.alias_(value, around.alias or around.sql("spark"), quoted=True)
    joins = outer.args.get("joins") or ()
    inside = [outer.args["from_"].this, *(j.this for j in joins)]
    seen = [t for t, j in zip(inside, (None, *joins), strict=True) if j is None or not _tests(j)]
    _name_stars(outer, seen)
    around.replace(exp.paren(value) if not isinstance(value, (exp.Column, exp.Alias)) else value)
    if name not in [t.alias_or_name for t in inside]:
        outer.append("joins", exp.Join(this=exp.to_table(name), kind="CROSS"))


def _tests(join: "exp.Expr") -> bool:
    """Whether a join shows no columns of its table."""
    return str(join.args.get("kind") or "").upper() in ("SEMI", "ANTI")


def _name_stars(outer: "exp.Select", seen: "list[exp.Expr]") -> None:
    """`*` as `t.*` of each table that it is of, before there are more."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    for item in outer.expressions:
        if not isinstance(item, exp.Star):
            items.append(item)
            continue
        using = any(join.args.get("using") for join in outer.args.get("joins") or ())
        if using or any(item.args.values()):
            what = "* with JOIN … USING" if using else show_sql(item)
            raise SqlRefusal(
                f"{what} beside a value of static relations",
                why="the value is of one more table, which `*` would show",
                fix="select columns by name",
                line=line_of(outer),
            )
        items += [
            exp.Column(this=exp.Star(), table=exp.to_identifier(t.alias_or_name)) for t in seen
        ]
    outer.set("expressions", items)


class _Reader:
    """One SELECT of static relations; `columns`: of the relation that it makes, and what computes
    each."""

    def __init__(self, select: "exp.Select", scope: Scope) -> None:
        self.select, self.scope = select, scope
        self.columns: dict[str, tuple[Column, exp.Expr]] = {}
        self.keys: list[str] = []
        group = select.args.get("group")
        for item in [] if group is None else group.expressions:
            self.keys.append(self._add(self._mean(item), key=True))

    def read_item(self, item: "exp.Expr") -> "exp.Expr":
        """An item of SELECT over the relation's columns, with its name."""
        from sqlglot import exp

        def replaced(node: "exp.Expr") -> "exp.Expr":
            called = node.this if isinstance(node, exp.Filter) else node
            if isinstance(called, exp.Avg):
                return self._divide(node)
            if isinstance(called, exp.AggFunc):
                return self._column(self._add(node))
            if isinstance(node, exp.Column):
                name = self._add(node, key=True)
                if name not in self.keys:
                    raise SqlRefusal(
                        f"{show_sql(node)} neither grouped nor aggregated",
                        why="the subquery is of groups of rows of static relations",
                        fix="add it to GROUP BY there",
                        line=line_of(node),
                    )
                return self._column(name)
            return node

        inner = item.unalias().copy().transform(replaced, copy=False)
        if isinstance(item, exp.Having):
            return inner
        return exp.alias_(inner, item.alias_or_name or item.sql("spark"), quoted=True)

    def read_having(self) -> "exp.Expr | None":
        """HAVING over the relation's columns: its rows are those of all groups."""
        having = self.select.args.get("having")
        return None if having is None else self.read_item(having).this

    def make_view(self) -> str:
        """What computes the relation's rows."""
        from sqlglot import exp

        view = self.select.copy()
        items = [exp.alias_(made.copy(), name) for name, (_, made) in self.columns.items()]
        view.set("expressions", items)
        keys = [self.columns[name][1].copy() for name in dict.fromkeys(self.keys)]
        view.set("group", exp.Group(expressions=keys) if keys else None)
        view.set("having", None)
        of = {alias.lower(): table.name for alias, table in self.scope.tables.items()}
        for table in list(view.find_all(exp.Table)):
            named = exp.to_table(of[table.alias_or_name.lower()])
            if len(of) > 1 or table.alias:
                named.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name)))
            table.replace(named)
        if len(of) == 1:  # so simple views are told by their text
            for column in view.find_all(exp.Column):
                column.set("table", None)
        return str(view.sql("spark"))

    def make_relation(self, name: str, view: str) -> Relation:
        """The relation: one row, or one of each group."""
        tables = list(self.scope.tables.values())
        sizes = [t.max_rows for t in tables if isinstance(t, Relation)]
        return Relation(
            name,
            DataSource("", None, view=view),
            tuple(column for column, _ in self.columns.values()),
            (tuple(dict.fromkeys(self.keys)),) if self.keys else (),
            max_rows=1 if not self.keys else sizes[0] if len(sizes) == 1 else None,
            source=tables[0].source,
        )

    def _mean(self, item: "exp.Expr") -> "exp.Expr":
        """What a position in SELECT stands for."""
        from sqlglot import exp

        if isinstance(item, exp.Literal) and item.name.isdigit():
            place = int(item.name) - 1
            if 0 <= place < len(self.select.expressions):
                item = self.select.expressions[place].unalias()
        if isinstance(item, exp.Column):
            return item
        raise SqlRefusal(
            f"GROUP BY {show_sql(item)} in a subquery over static relations",
            why="its groups are of columns",
            fix="declare a relation with this SQL as its view",
            line=line_of(item),
        )

    def _column(self, name: str) -> "exp.Column":
        from sqlglot import exp

        return exp.column(name)

    def _add(self, made: "exp.Expr", *, key: bool = False) -> str:
        """The column that a grouped column, or an aggregate, is."""
        from sqlglot import exp

        made = made.copy()
        for column in made.find_all(exp.Column):
            found = self.scope.resolve(column.table or None, column.name, line_of(column))
            column.set("this", exp.to_identifier(found.column))
            column.set("table", exp.to_identifier(found.alias))
        for name, (_, known) in self.columns.items():
            if known == made:
                return name
        name = name_static(made, self.columns)
        self.columns[name] = (self._type(made, name), made)
        return name

    def _type(self, made: "exp.Expr", name: str) -> Column:
        from sqlglot import exp

        whole, made = made, made.this if isinstance(made, exp.Filter) else made
        if isinstance(made, exp.Count):
            return Column(name, IntType(), minimum=0)
        inner = made if isinstance(made, exp.Column) else made.this
        if not isinstance(inner, exp.Column) or not isinstance(
            made, (exp.Column, exp.Min, exp.Max, exp.Sum)
        ):
            raise self._refuse(
                whole, "only columns, COUNT, SUM, AVG, MIN and MAX of columns are read"
            )
        table = self.scope.tables[inner.table]
        of = table.column(inner.name)
        assert of is not None
        if not isinstance(made, exp.Sum):
            null = of.nullable or not isinstance(made, exp.Column)
            return Column(name, of.type, of.minimum, of.maximum, of.enum, nullable=null)
        why = "the sum of doubles depends on the order of addition, and other values have none,"
        return Column(name, _sum_type(of.type, self._refuse(whole, why)), nullable=True)

    def _divide(self, call: "exp.Expr") -> "exp.Expr":
        """AVG, of all rows or those of a FILTER: the exact sum, divided once."""
        from sqlglot import exp

        def double(inner: "exp.AggFunc") -> "exp.Expr":
            made: exp.Expr = inner
            if isinstance(call, exp.Filter):
                made = exp.Filter(this=inner, expression=call.expression.copy())
            column = self._column(self._add(made))
            return exp.Cast(this=column, to=exp.DataType.build("DOUBLE"))

        of = call.this.this if isinstance(call, exp.Filter) else call.this
        made = exp.Div(
            this=double(exp.Sum(this=of.copy())), expression=double(exp.Count(this=of.copy()))
        )
        return exp.Paren(this=made)

    def _refuse(self, made: "exp.Expr", why: str) -> SqlRefusal:
        return SqlRefusal(
            f"{show_sql(made)} in a subquery over static relations",
            why=f"{why} there",
            fix="declare a relation with this SQL as its view, [relations.NAME] source = { view = "
            '"SELECT …" }, and join it; of doubles, CAST to DECIMAL in it',
            line=line_of(made),
        )


def _sum_type(kind: ColumnType, refusal: SqlRefusal) -> ColumnType:
    match kind:
        case IntType():
            return IntType()
        case DecimalType(precision=precision, scale=scale):
            return DecimalType(min(_DIGITS, precision + 10), scale)
        case _:
            raise refusal
