"""How far long work is, on a terminal or in a notebook. Imports nothing of the rooms."""
