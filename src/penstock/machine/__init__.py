"""The machine that Penstock runs on: Java, jars, processes, ports, certificates, an embedded Kafka.

Imports the kernel only.
"""
