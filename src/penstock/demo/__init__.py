"""`penstock demo`: a growing file, a topic and another file, with real servers and a live view."""

from penstock.demo.run import run_demo

__all__ = ["run_demo"]
