"""Runs: checked queries replayed or run live, static data read, triples materialized.

The glue between verdicts and the run-time. Doors: `replaying`, `running`, `run_options`.
"""
