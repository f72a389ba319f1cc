"""The JDBC driver for a URL: the one that the dialect names, or any that accepts the URL."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.dialects import Dialect, Driver
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.errors import ConfigError


def load_driver(jvm: Any, dialect: Dialect, settings: ConnectionSettings) -> Any:
    """A new java.sql.Driver.

    Raises:
        ConfigError: there is none; the text says which jar to put where.
    """
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    wanted = dialect.connecting.driver(settings)
    if wanted is None:
        return _driver_by_url(jvm, loader, settings)
    return _driver_by_name(loader, wanted)


def _driver_by_name(loader: Any, wanted: Driver) -> Any:
    try:
        return loader.loadClass(wanted.class_name).newInstance()
    except Py4JJavaError as error:
        if "ClassNotFoundException" not in str(error.java_exception):
            raise
        raise _no_driver(f"the class {wanted.class_name} was not found", wanted.jar) from None


def _driver_by_url(jvm: Any, loader: Any, settings: ConnectionSettings) -> Any:
    service = loader.loadClass("java.sql.Driver")
    drivers = jvm.java.util.ServiceLoader.load(service, loader).iterator()
    while drivers.hasNext():
        driver = drivers.next()
        if driver.acceptsURL(settings.url):
            return driver
    scheme = settings.scheme
    raise _no_driver(f"no driver knows jdbc:{scheme}: URLs", f"a JDBC driver for {scheme}")


def _no_driver(what: str, jar: str) -> ConfigError:
    return ConfigError(
        f"{what}: put the jar of {jar} into a directory of plugin.path, or name it in spark.jars,"
        " and restart the worker"
    )
