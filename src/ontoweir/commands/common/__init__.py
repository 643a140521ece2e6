"""What commands share: their arguments, opening the project, deciding its queries, and printing.

Takes parsed arguments; makes an open `Workspace`, verdicts, and lines on the terminal. Every
command may import any of it.
"""
