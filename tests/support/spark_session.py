"""Spark sessions that start in seconds: a small JVM, no web page, the Python and the sources of the tests."""

import os
import shutil
import sys
from importlib.util import find_spec
from typing import Any

from support.paths import REPOSITORY, TESTS

JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def missing() -> str:
    """What there is not, and how to get it; empty if everything is there."""
    if find_spec("pyspark") is None:
        return 'PySpark is not installed: pip install "everclust[spark]"'
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "there is no Java: apt-get install openjdk-17-jre-headless, or set JAVA_HOME"
    return ""


def environment() -> dict[str, str]:
    """What drivers and executors need to find Python and the sources, and to start soon."""
    folders = [str(REPOSITORY / "src"), str(TESTS), os.environ.get("PYTHONPATH")]
    return {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": JVM,
    }


def spark_session(master: str = "local[2]", jvm: str = JVM, **settings: Any) -> Any:
    """A session on this machine. Settings have underscores instead of dots."""
    from pyspark.sql import SparkSession

    os.environ |= environment() | {"JAVA_TOOL_OPTIONS": jvm}
    options = {
        "spark.master": master,
        "spark.driver.memory": "1g",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKS_DB,
        "spark.driver.bindAddress": "127.0.0.1",
    } | {name.replace("_", "."): value for name, value in settings.items()}
    builder = SparkSession.builder.appName("everclust")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
