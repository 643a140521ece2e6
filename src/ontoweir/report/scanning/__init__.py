"""Verdicts for code scanning: as a SARIF log, and as annotations of GitHub, which follow from it.

Doors: `render_sarif`, `print_log`.
"""
