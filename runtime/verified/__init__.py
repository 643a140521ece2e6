"""What a replay has found of files, kept for the next replay of the same files.

A history that was replayed whole has been held to everything that is declared of its stream: keys,
references, domains, types. Takes what was rejected (`watch_rejects`), keeps it in the cache under
the identity of the files (`identify_streams`, `keep_verified`), and gives it to the next replay of
any query (`recall_verified`), which reads no column only to check it. Doors: those four.
"""
