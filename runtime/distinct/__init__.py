"""Equal rows of frames, as one.

Input: frames. Output: their distinct rows, with the weights and sums of what is equal added up, in
the order of their columns. Others may import `aggregate` and `merge_repeats`.
"""
