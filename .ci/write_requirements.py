"""Writes requirements/check.txt and requirements/replay.txt: the locked packages (uv.lock) that
checking needs, and short replays, for `pip install --no-deps`. With --check, only says whether they
are as they would be written.

    .venv/bin/python .ci/write_requirements.py [--check]
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_OF_RICH = {"pygments", "markdown-it-py", "mdurl"}
"""What rich colours programs and reads Markdown with, which nothing here does."""
_IN_MEMORY = "owlready2"
"""It is for who has an ontology of owlready2's in memory, in Python, and so has it."""
PURPOSES = {
    "check": (
        "what `ontoweir check`, `rewrite`, `lint` and `report` need: no data is read",
        {"pyspark", "py4j", "pyarrow", "numpy", _IN_MEMORY, *_OF_RICH},
    ),
    "replay": (
        "what short replays in one process need besides, `measure`, `show` and `init --from` too",
        {"pyspark", "py4j", _IN_MEMORY, *_OF_RICH},
    ),
}
"""By file: what it is for, and which packages it leaves out."""


def list_pinned(lock: dict, without: set[str]) -> list[str]:
    """The packages that ontoweir requires, directly or not, with their versions and markers."""
    packages: dict[str, list[dict]] = {}
    for package in lock["package"]:
        packages.setdefault(package["name"], []).append(package)
    found: set[str] = set()
    pending = ["ontoweir"]
    while pending:
        name = pending.pop()
        if name in found or name in without:
            continue
        found.add(name)
        for package in packages[name]:
            pending += [d["name"] for d in package.get("dependencies", ())]
    return [
        line
        for name in sorted(found - {"ontoweir"})
        for package in packages[name]
        for line in [_pin(package, several=len(packages[name]) > 1)]
    ]


def _pin(package: dict, *, several: bool) -> str:
    line = f"{package['name']}=={package['version']}"
    markers = package.get("resolution-markers", ())
    if several and markers:
        line += f" ; {' or '.join(f'({m})' for m in _join_platforms(markers))}"
    return line


def _join_platforms(markers: list[str]) -> list[str]:
    """Markers, each once where the version of Python alone decides: those of one that name all
    platforms are one."""
    found: dict[str, set[str]] = {}
    for marker in markers:
        python = " and ".join(p for p in marker.split(" and ") if "sys_platform" not in p)
        found.setdefault(python, set()).add(marker.removeprefix(python).removeprefix(" and "))
    if all(platforms in ({""}, _PLATFORMS) for platforms in found.values()):
        return list(found)
    return list(markers)


_PLATFORMS = {
    "sys_platform == 'win32'",
    "sys_platform == 'emscripten'",
    "sys_platform != 'emscripten' and sys_platform != 'win32'",
}
"""What uv tells apart, which together are all."""


def main() -> int:
    """Write or compare both files; the exit code."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    stale = []
    for name, (what, without) in PURPOSES.items():
        head = f"# {what}; made of uv.lock by .ci/write_requirements.py\n"
        text = head + "\n".join(list_pinned(lock, without)) + "\n"
        file = ROOT / "requirements" / f"{name}.txt"
        if "--check" in sys.argv[1:]:
            stale += [] if file.exists() and file.read_text(encoding="utf-8") == text else [file]
            continue
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for file in stale:
        print(f"{file.relative_to(ROOT)} is not as uv.lock has it: run .ci/write_requirements.py")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
