"""`penstock demo`: a growing file, a topic and another file, with real servers and a live view.

May import the client and the machine, as a user's program could.
"""

from penstock.demo.run import run_demo

__all__ = ["run_demo"]
