"""Which files a source has: one rule for replays, live runs, and whoever looks at data.

Takes a declared source; gives the names of its local files, in the order of its history, those
that have been moved to its archive among them. Knows nothing of what is in files. Doors: all.
"""
