"""Many connectors from files: read them, see what would change, change it.

>>> from penstock import manager
>>> from penstock.client import Client
>>> client = Client("http://localhost:8083")
>>> wanted = manager.load("connectors/")
>>> plan = manager.plan(client, wanted, prune=True)
>>> report = manager.apply(plan, client)
>>> report.ok
True
"""

from penstock.tools.manager import *
from penstock.tools.manager import __all__ as __all__
