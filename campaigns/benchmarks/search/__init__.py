"""How fast is a fast variant found?"""
