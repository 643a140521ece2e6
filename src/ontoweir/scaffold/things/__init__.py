"""Numbers that name things, all of which seem to have been seen.

Takes what was measured of guessed tables; declares between which numbers those lie that name
devices and the like (`declare_things`), a guess that says its evidence. Door: this one.
"""
