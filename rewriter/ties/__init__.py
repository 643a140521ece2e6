"""Orders that leave rows equal: by what such rows follow each other, and what is said of it.

Takes SQL as it is written, or the columns that an order lacks; gives an order in which no two rows
that can be told apart are equal. Doors: `order_ties`, `note_ties`, `list_ties`.
"""
