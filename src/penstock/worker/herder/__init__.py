"""Decides what runs where and owns the state of the cluster, on one thread. Does not use Spark.

May import storage, settings and plugins' descriptions, and the worker by its interface only.
"""
