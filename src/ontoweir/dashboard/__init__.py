"""The dashboard: what is decided of a project's queries, and how they run, as web pages."""
