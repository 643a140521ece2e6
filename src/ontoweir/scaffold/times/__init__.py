"""Times that data has and that are none that can be read: told by name, with what to write; and the
rows that have one, where few have none.

Takes samples of tables; makes a reason and a fix, or the other rows. Doors: `find_other_times`,
`drop_odd`.
"""
