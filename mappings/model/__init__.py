"""mappings/model"""
