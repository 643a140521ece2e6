"""Whole numbers that name devices get a domain, as a guess with its evidence; others do not."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

DEVICES, TIMES = 6, 150


def _init(
    run: Run, folder: Path, name: str, number: Callable[[int, int], int]
) -> tuple[object, str]:
    """What `init` declares of a column, and the line that declares it. `number`: of the device and
    the time, from 0 on."""
    lines = [f"ts,{name},watts"]
    for m in range(TIMES):
        when = f"2026-03-{1 + m // 24:02}T{m % 24:02}:00:00"
        lines += [f"{when},{number(d, m)},{d + m % 7}.25" for d in range(DEVICES)]
    (folder / "meters.csv").write_text("\n".join(lines) + "\n")
    ran = run("init", folder / "p", "--from", folder / "meters.csv")
    assert ran.code == 0, ran.err
    text = (folder / "p" / "ontoweir.toml").read_text()
    declared = tomllib.loads(text)["streams"]["meters"]["columns"][name]
    return declared, next(one for one in text.splitlines() if one.startswith(f"{name} = "))


def test_numbers_of_devices_are_declared_as_a_guess(run: Run, tmp_path: Path) -> None:
    declared, line = _init(run, tmp_path, "device_id", lambda d, _: 1 + d)
    assert declared == {"type": "int", "min": 1, "max": 6}
    assert "all 6 numbers from 1 to 6, each 150 times on average; guessed: " in line
    assert {"meters-latest.rq"} <= {f.name for f in (tmp_path / "p" / "queries").iterdir()}
    checked = run("check", tmp_path / "p", "--data")
    assert checked.code == 0, checked.out


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param("device_id", lambda d, _: 2 * d, id="not all between two are there"),
        pytest.param(
            "device_id",
            lambda d, m: (1, 2, 3, 4, 6, 6)[d] if m < 100 else 20,
            id="one comes when others have ended",
        ),
        pytest.param("device_id", lambda _, m: m // 50, id="new ones come"),
        pytest.param("device_id", lambda d, m: d + DEVICES * (m % 2), id="each seldom"),
        pytest.param("load", lambda d, _: 1 + d, id="not called as a number of a thing"),
    ],
)
def test_others_are_left_to_the_reader(
    run: Run, tmp_path: Path, name: str, number: Callable[[int, int], int]
) -> None:
    declared, _ = _init(run, tmp_path, name, number)
    assert declared == "int"
