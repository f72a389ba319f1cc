"""Runs what the herder says: hosts of connectors and tasks, the loops of sources and sinks.

May import the pipeline, the engine, storage and Kafka's clients; never the herder.
"""
