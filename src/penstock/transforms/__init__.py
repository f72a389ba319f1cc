"""The built-in transformations and predicates, as Spark expressions.

They may import `api`, `columns` and the kernel.
"""
