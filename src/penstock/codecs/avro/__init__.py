"""Avro: its schemas, what Connect's data is in them, and its bytes.

May import the kernel; no converter, no Spark.
"""
