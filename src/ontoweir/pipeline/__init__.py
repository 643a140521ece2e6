"""The pipeline: project → TBox and mappings → queries → verdicts.

Doors: `pipeline` (`Workspace`), `refused_query`, `known_inputs`, `read_cached`, `read_text`.
"""
