"""checker/sizes"""
