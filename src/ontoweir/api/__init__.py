"""The Python API: projects, answers and live queries in one's own program.

Door: what `ontoweir` exports.
"""
