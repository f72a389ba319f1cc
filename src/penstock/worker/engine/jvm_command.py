"""Spark's JVM without spark-submit: local masters start in a third of the time.

spark-submit starts scripts and a launcher, reads files of defaults, and puts all of Spark's jars
on the class path, of which a worker needs less than half. If a user has customised spark-submit
(a home or files of defaults of their own, packages to resolve), spark-submit is still used.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.machine.class_archive import ClassArchive
from penstock.machine.jars import classpath, pyspark_jars
from penstock.machine.java_home import JavaHome, find_java
from penstock.worker.settings.spark import HEAP, heap_mb

_GATEWAY: Final = "org.apache.spark.api.python.PythonGatewayServer"

#: If one of these customises spark-submit, spark-submit is used.
_SUBMIT_VARIABLES: Final = (
    *("HADOOP_CONF_DIR", "YARN_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR"),
    *("SPARK_DIST_CLASSPATH", "SPARK_DRIVER_MEMORY", "SPARK_HOME", "SPARK_SUBMIT_OPTS"),
)
_SUBMIT_FILES: Final = ("spark-env.sh", "spark-defaults.conf")
_SUBMIT_SETTINGS: Final = (
    *("spark.driver.extraClassPath", "spark.driver.extraLibraryPath", "spark.jars."),
    *("spark.driver.userClassPathFirst", "spark.submit.", "spark.archives", "spark.redaction."),
)

#: Settings of a local Spark that need only a few jars; with any other setting, all are used.
_NEED_FEW_JARS: Final = (
    *("spark.app.", "spark.default.parallelism", "spark.driver.", "spark.executor."),
    *("spark.jars", "spark.local.dir", "spark.locality.", "spark.log.", "spark.master"),
    *("spark.memory.", "spark.network.", "spark.python.", "spark.rpc.", "spark.scheduler."),
    *("spark.shuffle.", "spark.task.", "spark.testing.reservedMemory", "spark.ui.retained"),
    *("spark.sql.adaptive.", "spark.sql.ansi.", "spark.sql.caseSensitive", "spark.sql.codegen."),
    *("spark.sql.execution.", "spark.sql.files.", "spark.sql.mapKeyDedupPolicy"),
    *("spark.sql.optimizer.", "spark.sql.session.timeZone", "spark.sql.shuffle."),
    *("spark.sql.ui.retained", "spark.sql.variant."),
)
_NEED_FEW_JARS_IF_OFF: Final = ("spark.ui.enabled", "spark.ui.showConsoleProgress")

#: Jars of Spark that a local worker does not need, by the beginnings of their names.
_NEEDLESS: Final = (
    # Machine learning. Its session extension alone takes three seconds of CPU.
    *("spark-mllib", "spark-graphx", "breeze", "spire", "algebra", "cats-kernel", "arpack"),
    *("blas", "lapack", "JTransforms", "JLargeArrays", "scala-parallel-coll"),
    # Hive and its metastore.
    *("hive-", "spark-hive", "datanucleus", "derby", "HikariCP", "javax.jdo", "jdo-api", "jta-"),
    *("libfb303", "libthrift", "ST4", "antlr-runtime", "commons-dbcp", "commons-pool-1"),
    *("bonecp", "javolution", "jpam", "json-1", "opencsv", "super-csv", "oro-", "stax-api"),
    *("transaction-api", "joda-time", "commons-lang-2", "java-diff-utils", "jline", "gson"),
    # Masters that are not local.
    *("spark-kubernetes", "spark-yarn", "kubernetes-", "vertx-", "zjsonpatch", "zookeeper"),
    *("curator-", "audience-annotations", "snakeyaml-engine", "xmlschema-core"),
    # Shells, streaming and servers of Spark.
    *("spark-repl", "scala-compiler", "spark-connect", "spark-pipelines", "spark-streaming"),
    *("rocksdbjni", "leveldbjni", "jts-core", "commons-cli", "commons-crypto", "tink"),
    # The web pages.
    *("jersey-", "hk2-", "aopalliance", "jakarta.activation", "jakarta.annotation"),
    *("jakarta.inject", "jakarta.validation", "jakarta.xml", "jaxb-", "istack-", "javassist"),
    *("osgi-", "jjwt-", "httpclient", "httpcore", "metrics-graphite", "metrics-jmx", "dropwizard"),
    # Protocols that Spark's own network does not speak.
    *("netty-all", "netty-codec-classes-quic", "netty-codec-compression", "netty-codec-dns"),
    *("netty-codec-http", "netty-codec-marshalling", "netty-codec-native", "netty-codec-protobuf"),
    *("netty-codec-socks", "netty-handler-proxy", "netty-resolver-dns", "netty-tcnative-boring"),
    *("netty-transport-classes-io", "netty-transport-classes-kq", "netty-transport-native-io"),
    *("netty-transport-native-kq", "avro-ipc"),
)

#: Spark's JavaModuleOptions, without the module that only mllib uses.
_MODULE_OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net"),
            *("java.nio", "java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
            *("jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action"),
            "sun.util.calendar",
        )
    ),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True, slots=True)
class DirectLaunch:
    """The command line of a local Spark's JVM."""

    java: JavaHome
    archive: ClassArchive
    more_jars: tuple[str, ...]
    heap_mb: int
    options: tuple[str, ...]

    @classmethod
    def of(cls, settings: Mapping[str, str], environ: Mapping[str, str]) -> DirectLaunch | None:
        """The launch for these settings; None if spark-submit must start the JVM."""
        if not _is_for_us(settings, environ):
            return None
        java = find_java(environ)
        return cls(
            java,
            ClassArchive.of("spark", java, spark_jars(settings), environ),
            tuple(_listed(settings.get("spark.jars", ""))),
            heap_mb(settings[HEAP]) or 0,
            tuple(shlex.split(settings.get("spark.driver.extraJavaOptions", ""))),
        )

    def command(self, *, use_archive: bool) -> list[str]:
        """The arguments. Our jars come first, as the archive expects them."""
        return [
            str(self.java.java),
            f"-Xmx{self.heap_mb}m",
            *(self.archive.options if use_archive else ()),
            *_MODULE_OPTIONS,
            *self.options,
            *("-cp", os.pathsep.join((self.archive.classpath, *self.more_jars)), _GATEWAY),
        ]


def spark_jars(settings: Mapping[str, str]) -> list[Path]:
    """The jars of Spark that these settings need, and our own."""
    shipped = sorted(pyspark_jars().glob("*.jar"))
    if all(map(_needs_few_jars, settings.items())):
        shipped = [jar for jar in shipped if not jar.name.startswith(_NEEDLESS)]
    # First, as in spark-submit: other jars contain older copies of its classes.
    shipped.sort(key=lambda jar: not jar.name.startswith("slf4j-api-"))
    return [*shipped, *classpath("spark", "drivers")]


def with_our_jars(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings for spark-submit, which ships our jars and the user's to all executors."""
    jars = (settings.get("spark.jars", ""), *map(str, classpath("spark", "drivers")))
    return {**settings, "spark.jars": ",".join(filter(None, jars))}


def _needs_few_jars(setting: tuple[str, str]) -> bool:
    name, value = setting
    if name in _NEED_FEW_JARS_IF_OFF:
        return value == "false"
    return name.startswith(_NEED_FEW_JARS)


def _is_for_us(settings: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    files = pyspark_jars().parent / "conf"
    return (
        settings["spark.master"].startswith("local")
        and not any(map(environ.get, _SUBMIT_VARIABLES))
        and not any((files / name).exists() for name in _SUBMIT_FILES)
        and not any(name.startswith(_SUBMIT_SETTINGS) for name in settings)
        and all(Path(jar).is_file() for jar in _listed(settings.get("spark.jars", "")))
    )


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
