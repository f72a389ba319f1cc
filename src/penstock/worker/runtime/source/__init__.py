"""The loop of a source: read a frame, write it to Kafka, store its offsets.

May import the pipeline and the parts that all tasks share.
"""
