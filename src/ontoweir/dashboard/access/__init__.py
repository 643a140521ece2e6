"""Who is answered: requests of this machine's pages and programs, and of those who have the token.

Doors: `guard_requests`, `hold_token`.
"""
