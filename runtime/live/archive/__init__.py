"""Archives: files that all queries have read are moved out of the folders that Spark lists.

Takes how far the queries of a run are; moves files by renaming them, once a commit says that they
are read. What a file is called below its folder stays (`runtime/located`), so that replays, and
queries that join later, read folder and archive as one. Doors: `move_files`, `begin_archived`.
"""
