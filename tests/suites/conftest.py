"""Prints, at the end of a session that ran them, how every R2RML case did."""

import pytest

from tests.suites.r2rml_cases import NOT_MET, list_cases


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of all cases; docs/r2rml-conformance.md has it with more words."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    passed = {r.nodeid: r.passed for r in reports if "test_r2rml.py" in r.nodeid}
    if not any("test_case_is_met" in n for n in passed):
        return
    terminalreporter.section("R2RML cases of ../shared/suites")
    for suite in ("w3c-r2rml", "r2rml-sqlite"):
        keys = [c.key for c in list_cases() if c.suite == suite]
        ran = {k: p for n, p in passed.items() for k in keys if n.endswith(f"[{k}]")}
        met = [k for k, p in ran.items() if p and k not in NOT_MET]
        names = " ".join(k.removeprefix(f"{suite} ") for k in met)
        terminalreporter.line(f"{suite}: {len(met)} of {len(keys)} met: {names}")
        for key in keys:
            if key in NOT_MET:
                terminalreporter.line(f"  {key} not met: {NOT_MET[key]}")
            elif not ran.get(key, False):
                terminalreporter.line(f"  {key} {'FAILED' if key in ran else 'did not run'}")
