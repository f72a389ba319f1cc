"""Values and rules that all of Penstock shares: no Kafka, no Spark, no files of its own.

Imports nothing else of Penstock. A contract holds the order inside it.
"""
