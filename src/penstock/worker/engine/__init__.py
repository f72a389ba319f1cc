"""Spark: its JVM, the one session of a worker, the cluster behind it, running jobs.

Knows no connectors; `worker.pipeline` turns them into plans, `worker.runtime` runs the plans.
May import the machine, settings and the kernel; nothing of Kafka.
"""
