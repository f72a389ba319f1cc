"""Kafka as Penstock needs it: clients behind one interface, translated settings, internal topics.

It may import the kernel and the machine; only `kafka.clients` imports client libraries.
"""
