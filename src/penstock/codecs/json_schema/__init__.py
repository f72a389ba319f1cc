"""JSON Schema: what Connect's data is in it.

May import the kernel; no converter, no Spark.
"""
