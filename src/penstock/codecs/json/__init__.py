"""JSON as JsonConverter reads and writes it, one value at a time.

May import the kernel; no converter, no Spark.
"""
