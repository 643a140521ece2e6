"""Plans of several queries that differ in constants alone are advanced by one run of the kernel.

Input: the plans of queries that read the same rows, and their states. Output: of each plan what the
kernel would have made of it alone. Others may import `advance_alike`.
"""
