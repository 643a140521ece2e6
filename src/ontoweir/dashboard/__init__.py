"""The dashboard: verdicts of a project's queries, and their runs, as web pages."""
