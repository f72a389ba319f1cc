"""A Kafka cluster for people in a Python shell, and the class behind these functions.

>>> from penstock import broker
>>> broker.show_topics()  # doctest: +SKIP
>>> broker.delete_topic("x")  # doctest: +SKIP
"""

from penstock.tools.broker import *
from penstock.tools.broker import __all__ as __all__
