"""The catalog of a project file.

Takes `[streams.*]` and `[relations.*]`; makes a `Catalog`. Doors: `load_catalog`, `check_view`.
"""
