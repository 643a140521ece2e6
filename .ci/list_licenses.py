"""Write docs/licenses.md: what ontoweir needs when it runs, with licences, as installed here.

    .venv/bin/python .ci/list_licenses.py [--check]

--check writes nothing, and fails if a package on the page is missing or a licence changed. Versions
are left out: uv.lock has them. Packages are found from `dependencies` and
`optional-dependencies` in pyproject.toml on.
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "licenses.md"
HEAD = """# Licences

```sh
.venv/bin/python .ci/list_licenses.py --check   # is this page up to date?
```

ontoweir is under the [Apache License 2.0](../LICENSE). The table lists its run-time dependencies,
with those of its extras and their own, and the licences that the packages declare. None of them is
part of ontoweir's own packages. `.ci/list_licenses.py` writes this page.

| package | licence | where |
| --- | --- | --- |
"""


def main() -> int:
    """The command line."""
    rows = []
    for name in sorted(close(direct())):
        found = distribution(name)
        rows.append(f"| {name} | {licence(found)} | {home(found)} |\n")
    text = HEAD + "".join(rows)
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is out of date: run .ci/list_licenses.py", file=sys.stderr)
    return 1


def direct() -> list[str]:
    """The dependencies that pyproject.toml names, those of extras included."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    wanted = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    named = [d for group in wanted for d in group]
    extras = [
        bare(requirement)
        for d in named
        for extra in re.findall(r"\[([\w-]+)\]", d)
        for requirement in distribution(bare(d)).requires or ()
        if re.search(rf"extra == ['\"]{extra}['\"]", requirement)
    ]
    return [bare(d) for d in named] + [e for e in extras if is_here(e)]


def is_here(name: str) -> bool:
    """Whether a package is installed."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def bare(requirement: str) -> str:
    """The name in a requirement, as indexes spell it."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement.strip())[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def close(names: list[str]) -> set[str]:
    """The names, and what they require here, extras and other platforms left out."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        for requirement in distribution(name).requires or ():
            text, _, marker = requirement.partition(";")
            if is_here(bare(text)) and "extra" not in marker:  # else of another platform or Python
                pending.append(bare(text))
    return found


def licence(found: Distribution) -> str:
    """The licence that a package declares: as an expression, a classifier, or a short text."""
    meta = found.metadata
    if expression := meta.get("License-Expression"):
        return expression
    named = [
        c.split(" :: ")[-1]
        for c in meta.get_all("Classifier") or ()
        if c.startswith("License ::") and c != "License :: OSI Approved"
    ]
    text = (meta.get("License") or "").strip().split("\n")[0]
    return "; ".join(named) or (text if 0 < len(text) < 60 else "not declared")


def home(found: Distribution) -> str:
    """The project's page."""
    if address := found.metadata.get("Home-page"):
        return f"<{address}>"
    entries = [e.partition(",") for e in found.metadata.get_all("Project-URL") or ()]
    links = {key.strip().lower(): url.strip() for key, _, url in entries}
    for key in ("homepage", "home", "source", "source code", "repository", "documentation"):
        if key in links:
            return f"<{links[key]}>"
    return f"<https://pypi.org/project/{found.metadata['Name']}/>"


if __name__ == "__main__":
    sys.exit(main())
