"""Kafka Connect in Python, with Apache Spark as the engine."""

__version__ = "0.1.0"
