"""Rows that begin to be shown some time after their own, and then are shown for ever; and how long
after the times of its rows an answer is final.

Takes a query with such delays; makes it one over streams of the delayed rows, which are there at
the time from which on they are shown. `span_times` says how long after each of its times an answer
is final, `hold_answers` lets it wait until that is so long for all, `refuse_late` says why one
never is. Sets of rows that enter or leave their windows on a grid of time are told of rows that
come and go (`hold_set`). `list_narrowed` says by which of its times what is beside an answer is
told, `find_deadlines` until when it may come. Doors: `delay_rows`, `span_times`, `hold_answers`,
`hold_set`, `list_narrowed`, `find_deadlines`, `refuse_late`.
"""
