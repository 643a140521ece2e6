"""Reads what a user's Python function takes and gives, from its source: nothing is imported."""

import ast
import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ontoweir.errors import CatalogError, Source
from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import Parameter, UserFunction
from ontoweir.mappings.model.read_table import did_you_mean

TYPES: dict[str, ColumnType] = {
    "int": IntType(),
    "float": FloatType(),
    "str": StringType(),
    "bool": BooleanType(),
    "Decimal": DecimalType(38, 6),
    "datetime": TimestampType(),
}
"""By the names of Python's."""
_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_KNOWN = f"{', '.join(list(TYPES)[:-1])} or datetime, or Optional of one"


def read_functions(
    references: Sequence[str], folders: Sequence[Path], at: Source
) -> dict[str, UserFunction]:
    """As `read_function`, several by their names, by which SQL and SPARQL call them.

    Raises:
        CatalogError: as `read_function`; two have one name, or one has a name of SQL.
    """
    made: dict[str, UserFunction] = {}
    for reference in references:
        function = read_function(reference, folders, at)
        same = next((n for n in made if n.lower() == function.name.lower()), None)
        if same is not None or not _is_free(function):
            raise CatalogError(
                f"a function called {function.name!r}"
                + (", twice" if same else ", which is a word of SQL"),
                why="queries call functions by their names; in SQL case does not matter",
                fix="give it another name in its module",
                source=at,
            )
        made[function.name] = function
    return made


def _is_free(function: UserFunction) -> bool:
    """Whether SQL has no function, or other word, of a name."""
    from sqlglot import errors, exp, parse_one

    given = ", ".join("a" for _ in function.parameters)
    try:
        called = parse_one(f"SELECT {function.name}({given})", dialect="spark").expressions[0]
    except errors.SqlglotError:
        return False
    return isinstance(called, exp.Anonymous) and called.name == function.name


def read_function(reference: str, folders: Sequence[Path], at: Source) -> UserFunction:
    """What is known of a function before it is imported: its types, which its annotations say, and
    the source of its module.

    Args:
        reference: `module:function`.
        folders: where modules are, before those on Python's path.
        at: where it is named.

    Raises:
        CatalogError: there is no such module or function, or its signature is none of a row's.
    """
    if not _REFERENCE.fullmatch(reference):
        raise CatalogError(
            f"{reference!r} names no function",
            why="a function of a row is named by its module and its name",
            fix="write module:function",
            source=at,
        )
    module, _, name = reference.partition(":")
    file = _find_module(module, folders, at)
    try:
        content = file.read_bytes()
        tree = ast.parse(content, str(file))
    except (OSError, SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise CatalogError(
            f"the module {module} cannot be read: {error}",
            why=f"the function {name} is in it",
            fix="mend it, or name another one",
            source=Source(str(file), line),
        ) from None
    known = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if name not in known:
        raise CatalogError(
            f"the module {module} has no function {name!r}",
            why=f"{file} is read, not run: functions are those that def makes at its outermost "
            "level",
            fix=did_you_mean(name, known) if known else "define it there",
            source=at,
        )
    reader = _Reader(module, str(file), known[name])
    parameters = reader.parameters()
    result = reader.annotated(known[name].returns, "its result", known[name].lineno)
    forms = {p.arrays for p in (*parameters, result)}
    if len(forms) > 1:
        raise reader.refuse(
            "mixes values and arrays",
            why="it is called with a row's values, or with whole columns",
            fix="write Annotated[pyarrow.Array, …] everywhere, or nowhere",
        )
    return UserFunction(
        name,
        module,
        tuple(Parameter(p.type, p.optional) for p in parameters),
        Parameter(result.type, result.optional),
        forms.pop(),
        sha256(content).hexdigest(),
        str(file),
        known[name].lineno,
    )


def _find_module(module: str, folders: Sequence[Path], at: Source) -> Path:
    steps = module.split(".")
    searched = [*folders, *(Path(p or ".") for p in sys.path)]
    for folder in searched:
        whole = folder.joinpath(*steps)
        for file in (whole.with_name(f"{steps[-1]}.py"), whole / "__init__.py"):
            if file.is_file():
                return file.resolve()
    raise CatalogError(
        f"there is no module {module!r}",
        why=f"it is looked for in {', '.join(map(str, dict.fromkeys(folders)))} and on Python's "
        "path, as a file of Python's source",
        fix="correct its name, or put its folder into PYTHONPATH",
        source=at,
    )


class _Annotated:
    """What an annotation says."""

    __slots__ = ("arrays", "optional", "type")

    def __init__(self, kind: ColumnType, *, optional: bool = False, arrays: bool = False) -> None:
        self.type, self.optional, self.arrays = kind, optional, arrays


class _Reader:
    def __init__(
        self, module: str, file: str, node: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> None:
        self.module, self.file, self.node = module, file, node

    def refuse(self, what: str, *, why: str, fix: str, line: int | None = None) -> CatalogError:
        """The error of this function."""
        place = Source(self.file, line or self.node.lineno)
        return CatalogError(
            f"the function {self.module}:{self.node.name} {what}", why=why, fix=fix, source=place
        )

    def parameters(self) -> tuple[_Annotated, ...]:
        """What it takes."""
        given = self.node.args
        several = given.vararg or given.kwarg or given.kwonlyargs or given.defaults
        if several or isinstance(self.node, ast.AsyncFunctionDef):
            raise self.refuse(
                "has a signature that is not read",
                why="it is called with one value for each parameter",
                fix="write def with plain parameters: no *, no defaults, no async",
            )
        plain = (*given.posonlyargs, *given.args)
        if not plain:
            raise self.refuse(
                "has no parameters",
                why="it is a function of a row",
                fix="pass the columns that it computes with",
            )
        return tuple(
            self.annotated(p.annotation, f"its parameter {p.arg}", p.lineno) for p in plain
        )

    def annotated(self, node: ast.expr | None, what: str, line: int) -> _Annotated:
        """What an annotation says."""
        made = None if node is None else _read(node)
        if made is not None:
            return made
        shown = "no annotation" if node is None else f"the annotation {ast.unparse(node)}"
        raise self.refuse(
            f"has {shown} for {what}",
            why="its types are those of columns, and known before it is called",
            fix=f"write {_KNOWN}; of whole columns Annotated[pyarrow.Array, int] and the like",
            line=line,
        )


def _read(node: ast.expr) -> _Annotated | None:
    match node:
        case ast.Constant(value=str() as text):
            try:
                return _read(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _Annotated(TYPES[name]) if name in TYPES else None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [s for s in (left, right) if not _is_none(s)]
            return _make_optional(_read(sides[0])) if len(sides) == 1 else None
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            if name == "Optional":
                return _make_optional(_read(inner))
            if name == "Annotated" and isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
                array, value = inner.elts
                whole = isinstance(array, ast.Name | ast.Attribute) and (
                    (array.id if isinstance(array, ast.Name) else array.attr) == "Array"
                )
                made = _read(value) if whole else None
                if made is not None and not made.arrays:
                    return _Annotated(made.type, optional=made.optional, arrays=True)
            return None
        case _:
            return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _make_optional(made: _Annotated | None) -> _Annotated | None:
    if made is None or made.arrays:
        return None
    return _Annotated(made.type, optional=True)
