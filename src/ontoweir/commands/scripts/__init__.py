"""`ontoweir check` of scripts of SQL, without a project.

In: files, as the command names them. Out: a verdict of each statement. Door: `check_scripts`.
"""
