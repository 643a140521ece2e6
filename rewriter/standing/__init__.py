"""Rows that hold until later ones of another query end them: what is open, and not closed since.

`make_standing` makes one query of both; `read_standing` finds them in SQL, `find_standing` in the
solutions of SPARQL; `answers_of` tells the answers from the rows that only end others.
"""
