"""checker/plans"""
