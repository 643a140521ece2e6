"""The pipeline: project → TBox and mappings → queries → verdicts.

Door: `pipeline` (`Workspace`), `refused_query`.
"""
