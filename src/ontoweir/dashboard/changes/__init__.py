"""Queries are registered and dropped from the dashboard, where its site allows that.

Door: `add_changes`.
"""
