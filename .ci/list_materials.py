"""Write a software bill of materials, CycloneDX JSON: what ontoweir needs when it runs.

    .venv/bin/python .ci/list_materials.py [FILE]

The distributions that uv.lock has for ontoweir's own dependencies, on this platform and Python, as
they are installed here: with versions, licences, and who needs whom. Fails if one that is locked is
not installed, or in another version. Without FILE it goes to stdout.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parent.parent
NAME = "ontoweir"


def main() -> int:
    """The command line."""
    with (ROOT / "uv.lock").open("rb") as file:
        locked = close(tomllib.load(file)["package"])
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    command += ["--no-validate"]  # the schema is of the tool; its validator takes most of the time
    command += ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library"]
    made = subprocess.run([*command, sys.executable], check=True, capture_output=True, text=True)
    bill: dict[str, Any] = json.loads(made.stdout)
    bill["components"] = [c for c in bill["components"] if spell(c["name"]) in locked]
    there = {spell(c["name"]): c["version"] for c in bill["components"]}
    wrong = [n for n, versions in sorted(locked.items()) if there.get(n) not in versions]
    for name in wrong:
        known = " or ".join(sorted(locked[name]))
        print(f"{name}: uv.lock has {known}, installed is {there.get(name)}", file=sys.stderr)
    kept = {c["bom-ref"] for c in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    bill["dependencies"] = [
        {
            **d,
            **({"dependsOn": [r for r in d["dependsOn"] if r in kept]} if "dependsOn" in d else {}),
        }
        for d in bill["dependencies"]
        if d["ref"] in kept
    ]
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 1 if wrong else 0


def close(packages: list[dict[str, Any]]) -> dict[str, set[str]]:
    """The locked versions of what ontoweir and its extras need here, by name, and of what that
    needs."""
    held: dict[str, list[dict[str, Any]]] = {}
    for package in packages:
        held.setdefault(package["name"], []).append(package)
    found: dict[str, set[str]] = {}
    pending = [d for p in held[NAME] for d in p["dependencies"]]
    for package in held[NAME]:
        for extra in package.get("optional-dependencies", {}).values():
            pending += extra
    while pending:
        wanted = pending.pop()
        if "marker" in wanted and not Marker(wanted["marker"]).evaluate():
            continue
        for package in held[wanted["name"]]:
            version = package["version"]
            if wanted.get("version", version) != version:
                continue
            for extra in wanted.get("extra", ()):
                pending += package.get("optional-dependencies", {}).get(extra, ())
            if version not in found.setdefault(wanted["name"], set()):
                found[wanted["name"]].add(version)
                pending += package.get("dependencies", ())
    return found


def spell(name: str) -> str:
    """A name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
