"""Rows with what the rows before them say: LAG, LEAD, running and moving aggregates.

Of each key the last rows are kept, as many as the query looks back on, and of what runs from the
first row on the sum until there. Door: `precede_rows`.
"""
