"""Users' functions: what their source says, and what calling them gives."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.errors import CatalogError, DataError, Source, UsageError
from ontoweir.mappings.expressions.value_types import to_array, value_type
from ontoweir.mappings.functions.call_function import call_function
from ontoweir.mappings.functions.read_function import read_functions
from ontoweir.mappings.model.catalog import BooleanType, DecimalType, FloatType, IntType
from ontoweir.mappings.model.expression import Parameter, UserFunction

AT = Source("ontoweir.toml", 3)
HEAD = """from __future__ import annotations
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Optional
import pyarrow as pa
import pyarrow.compute as pc
raised = int("1")
"""


def read(folder: Path, body: str, *names: str) -> tuple[UserFunction, ...]:
    (folder / "rows.py").write_text(HEAD + body)
    return tuple(read_functions([f"rows:{n}" for n in names], [folder], AT).values())


def call(function: UserFunction, *columns: list[Any]) -> list[Any]:
    given = [to_array(c, p.type) for c, p in zip(columns, function.parameters, strict=True)]
    return call_function(function, given, value_type(function.result.type)).to_pylist()  # type: ignore[no-any-return]


def test_types_are_read_and_nothing_is_imported(tmp_path: Path) -> None:
    signature = "def f(a: int, b: Optional[float], c: 'Decimal | None') -> bool: ..."
    body = f"import no_such_module\n{signature}\n"
    (made,) = read(tmp_path, body, "f")
    assert made.parameters == (
        Parameter(IntType()),
        Parameter(FloatType(), optional=True),
        Parameter(DecimalType(38, 6), optional=True),
    )
    assert made.result == Parameter(BooleanType())
    assert not made.arrays
    with pytest.raises(UsageError, match="does not run: ModuleNotFoundError"):
        call(made, [1], [1.0], [None])


def test_a_change_of_the_module_is_another_function(tmp_path: Path) -> None:
    (first,) = read(tmp_path, "def f(a: int) -> int:\n    return a + 1\n", "f")
    assert call(first, [1, 2]) == [2, 3]
    (second,) = read(tmp_path, "def f(a: int) -> int:\n    return a + 2\n", "f")
    assert first != second
    assert call(second, [1, 2]) == [3, 4]
    (tmp_path / "rows.py").write_text(HEAD + "def f(a: int) -> int:\n    return a + 3\n")
    (third,) = read(tmp_path, "def f(a: int) -> int:\n    return a + 4\n", "f")
    (tmp_path / "rows.py").write_text("")
    with pytest.raises(UsageError, match="is not the one that was read"):
        call(third, [1])


def test_null_is_not_passed_unless_it_is_optional(tmp_path: Path) -> None:
    body = (
        "def f(a: int, b: Optional[str]) -> Optional[str]:\n"
        "    return None if a == 3 else f'{a} {b}'\n"
        "def g(a: Annotated[pa.Array, int]) -> Annotated[pa.Array, int]:\n"
        "    return pc.fill_null(pc.add(a, 1), 0)\n"
    )
    f, g = read(tmp_path, body, "f", "g")
    assert call(f, [1, None, 2, 3], ["x", "x", None, "x"]) == ["1 x", None, "2 None", None]
    assert call(g, [1, None]) == [2, None]


def test_values_of_all_types(tmp_path: Path) -> None:
    body = (
        "def d(a: Decimal) -> Decimal:\n    return a * 2\n"
        "def t(a: datetime) -> datetime:\n    return a.astimezone(tz=None).astimezone()\n"
        "def u(a: datetime) -> datetime:\n    return a.replace(minute=0)\n"
        "def x(a: float) -> float:\n    return 0 if a < 1 else a\n"
    )
    d, _, u, x = read(tmp_path, body, "d", "t", "u", "x")
    assert call(d, [Decimal("1.5"), None]) == [Decimal("3.000000"), None]
    assert call(u, ["2020-01-01 10:30:00"]) == [datetime(2020, 1, 1, 10)]
    assert call(x, [-0.5, 1.5]) == [0.0, 1.5]
    body = "def t(a: int) -> datetime:\n    return datetime(2020, 1, 1, a, tzinfo=UTC)\n"
    aware = read(tmp_path, f"from datetime import UTC\n{body}", "t")
    assert call(aware[0], [3]) == [datetime(2020, 1, 1, 3, tzinfo=UTC).replace(tzinfo=None)]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("-> int:\n    return 'x'", "returned 'x', of type str, for \\(1,\\)|for \\(1\\)"),
        ("-> int:\n    return True", "of type bool"),
        ("-> int:\n    return None", "None needs Optional"),
        ("-> bool:\n    return 1", "of type int"),
        ("-> float:\n    return float('nan')", "returned nan"),
        ("-> int:\n    return 2**70", "beyond its type"),
        ("-> Decimal:\n    return Decimal('0.1234567')", "beyond its type"),
        ("-> int:\n    return 1 // 0", "raised ZeroDivisionError.*for \\(1\\)"),
    ],
)
def test_what_a_call_does_wrong_is_named(returned: str, message: str, tmp_path: Path) -> None:
    (made,) = read(tmp_path, f"def f(a: int) {returned}\n", "f")
    with pytest.raises(DataError, match=message) as caught:
        call(made, [1])
    assert caught.value.source == Source(str(tmp_path / "rows.py"), 8)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("int]:\n    return a.to_pylist()", "returned list"),
        ("int]:\n    return a.slice(1)", "with 0 values for 1 rows"),
        ("int]:\n    return a.cast(pa.string())", "an array of string"),
        ("int]:\n    return pa.nulls(len(a), pa.int64())", "returned NULL"),
        ("float]:\n    return pa.array([float('nan')])", "returned NaN"),
        ("int]:\n    return a.total()", "raised AttributeError"),
    ],
)
def test_what_a_call_of_columns_does_wrong_is_named(
    returned: str, message: str, tmp_path: Path
) -> None:
    body = f"def f(a: Annotated[pa.Array, int]) -> Annotated[pa.Array, {returned}\n"
    (made,) = read(tmp_path, body, "f")
    with pytest.raises(DataError, match=message):
        call(made, [1])


@pytest.mark.parametrize(
    ("reference", "body", "message"),
    [
        ("rows", "", "names no function"),
        ("rows:", "", "names no function"),
        ("nowhere:f", "", "there is no module 'nowhere'"),
        ("rows:g", "def f(a: int) -> int: ...", "has no function 'g'.*use one of: f"),
        ("rows:f", "def f(a: int) -> int", "cannot be read"),
        ("rows:f", "def f(a) -> int: ...", "no annotation for its parameter a"),
        ("rows:f", "def f(a: int): ...", "no annotation for its result"),
        ("rows:f", "def f(a: list[int]) -> int: ...", "list\\[int\\] for its parameter a"),
        ("rows:f", "def f(a: int | str) -> int: ...", "int | str"),
        ("rows:f", "def f(*a: int) -> int: ...", "no \\*, no defaults"),
        ("rows:f", "def f(a: int = 1) -> int: ...", "no \\*, no defaults"),
        ("rows:f", "async def f(a: int) -> int: ...", "no async"),
        ("rows:f", "def f() -> int: ...", "has no parameters"),
        ("rows:f", "def f(a: Annotated[pa.Array, int]) -> int: ...", "mixes values and arrays"),
        ("rows:upper", "def upper(a: int) -> int: ...", "a word of SQL"),
    ],
)
def test_what_is_no_function_of_a_row_is_refused(
    reference: str, body: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.py").write_text(body)
    with pytest.raises(CatalogError, match=message) as caught:
        read_functions([reference], [tmp_path], AT)
    assert caught.value.source is not None


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text("def f(a: int) -> int: ...\ndef F(a: int) -> int: ...\n")
    with pytest.raises(CatalogError, match="twice"):
        read_functions(["rows:f", "rows:F"], [tmp_path], AT)


def test_a_module_in_a_package_imports_what_is_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "units"
    package.mkdir()
    (package / "__init__.py").write_text("def g(a: int) -> int:\n    return a\n")
    (package / "factor.py").write_text("FACTOR = 3\n")
    (package / "rows.py").write_text(
        "from units.factor import FACTOR\ndef f(a: int) -> int:\n    return a * FACTOR\n"
    )
    made = read_functions(["units.rows:f", "units:g"], [tmp_path], AT)
    assert call(made["f"], [2]) == [6]
    assert call(made["g"], [2]) == [2]
    assert isinstance(call_function(made["g"], [pa.array([], pa.int64())], pa.int64()), pa.Array)
