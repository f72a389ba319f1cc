"""Configs, offsets and states in Connect's own topics, in its own bytes; or in memory and a file.

May import Kafka's clients and the kernel.
"""
