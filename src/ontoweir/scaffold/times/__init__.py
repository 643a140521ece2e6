"""Times that data has and that are none that can be read: told by name, with what to write.

Takes samples of tables; makes a reason and a fix. Door: `find_other_times`.
"""
