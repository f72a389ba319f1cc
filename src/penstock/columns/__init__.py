"""Shared by column plugins: types of data in flight, faults, text of values.

May import `api` and the kernel; needs Spark.
"""
