"""Commands that set something up: a new project, this machine, the shell's completion.

Each module adds one command (`add_init`, …), which `ontoweir.cli` lists; nothing else is a door.
"""
