"""Thirty connectors that have nothing to do: CPU and memory of the worker."""

from __future__ import annotations

import time

from bench.lab import PENSTOCK, STRING, Lab, Worker, wait_for
from bench.processes import cpu_over, usage
from bench.report import Result
from bench.throughput import sink_config, source_config

CONNECTORS = 30
#: The JVM goes on compiling for a while after the last connector has started.
SETTLE_SECONDS = 60


def idle(lab: Lab) -> Result:
    title = f"{CONNECTORS} idle connectors, half sources and half sinks"
    result = Result("idle", title)
    for name in lab.options.workers:
        with lab.workers({"spark.driver.memory": "512m"}) as workers:
            for worker in workers:
                if worker.name == name:
                    _measure(lab, worker, result)
    return result


def _measure(lab: Lab, worker: Worker, result: Result) -> None:
    for number in range(CONNECTORS):
        topic = f"idle-{worker.name.split()[0].lower()}-{number // 2}"
        path = lab.directory / f"{topic}.txt"
        path.write_text("one line\n")
        if number % 2:
            worker.create(f"idle-{number}", sink_config(path.with_suffix(".out"), topic, STRING))
        else:
            worker.create(f"idle-{number}", source_config(path, topic, STRING))
    for number in range(CONNECTORS):
        worker.await_running(f"idle-{number}")
    targets = list(lab.directory.glob(f"idle-{worker.name.split()[0].lower()}-*.out"))
    wait_for(lambda: all(each.stat().st_size for each in targets), 180, "the lines have arrived")
    time.sleep(SETTLE_SECONDS)
    share = cpu_over(worker.pid, lab.options.seconds)
    memory = usage(worker.pid)
    result.figures |= {
        f"{worker.name}: % of one core": share,
        f"{worker.name}: RSS MB": memory.rss_mb,
        f"{worker.name}: PSS MB": memory.pss_mb,
    }
    if worker.name == PENSTOCK:
        result.at_most("% of one core", share, 5)
        result.at_most("RSS MB of worker, JVM and Python workers", memory.rss_mb, 1200)
    for number in range(CONNECTORS):
        worker.delete(f"idle-{number}")
