"""The operator's tools as libraries for any Connect cluster: client, broker, offsets, manager.

Users import them as `penstock.client` and so on. They may import the kernel, the codecs, Kafka's
clients, the machine and the formats of the worker's storage; nothing else of a worker.
"""
