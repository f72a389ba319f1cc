"""Configuration in, Spark plan out: converters and chain of a task as frames, and their faults.

May import plugins' base classes, `columns` and the engine; not the loops that run it.
"""
