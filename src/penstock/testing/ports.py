"""Free ports for servers that tests start."""

from penstock.machine.free_ports import free_port, is_free

__all__ = ["free_port", "is_free"]
