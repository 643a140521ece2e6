"""Looking at answers: a result's rows, chosen, sorted, shown; two results compared.

Takes files of answers, as `replay` and `run` write them, and gives tables. Nothing here knows how
answers were made. Doors: `read_answers`, `choose_rows`, `show_rows`, `compare_answers`.
"""
