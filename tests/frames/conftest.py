"""A session of Spark for the tests that need one: classic, or Connect where NBCFAST_SPARK says so."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def spark():
    """One for all tests of a run: it takes seconds to start."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed here")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java for Spark here")
    builder = sql.SparkSession.builder.appName("nbcfast")
    connect = os.environ.get("NBCFAST_SPARK", "classic") == "connect"
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "America/New_York",  # which no result may depend on
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = (builder.remote("local[2]") if connect else builder.master("local[2]")).getOrCreate()
    yield session
    session.stop()
