"""How far connectors are, for operators: show it, set it, go back, and undo that."""

from penstock.tools.offsets import *
from penstock.tools.offsets import __all__ as __all__
