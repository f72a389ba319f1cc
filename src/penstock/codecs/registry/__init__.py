"""A client of the Schema Registry, its settings, and the names of subjects.

May import the kernel; the other codecs stand on it.
"""
