"""The commands of `ontoweir`, one module each; what a command needs is imported when it runs.

Rooms: `setup` (a project, this machine, the shell), `design` (what a query means, before it runs),
`operate` (replays, live runs, registered queries), and `common`, which they share.
"""
