"""Protobuf: .proto files read and written, and what Connect's data is in them.

May import the kernel; no converter, no Spark.
"""
