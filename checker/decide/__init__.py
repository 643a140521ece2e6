"""checker/decide"""
