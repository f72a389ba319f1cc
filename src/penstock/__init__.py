"""Kafka Connect in Python, with Apache Spark as the engine.

ARCHITECTURE.md lists the packages, from the top down: each may import those below it.
"""

__version__ = "0.1.0"
