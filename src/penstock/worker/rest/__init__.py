"""Kafka Connect's REST API in front of a herder: routes, requests, errors as answers.

May import the herder's interface, the settings and the kernel.
"""
