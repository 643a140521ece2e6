"""The pipeline: project → TBox and mappings → queries → verdicts.

Doors: `pipeline` (`Workspace`), `refused_query`, `read_text`; the rooms `known` and `compiling`.
"""
