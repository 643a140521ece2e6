"""Files of our own: written whole or not at all, found safely, locked; places in their text."""
