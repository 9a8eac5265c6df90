from support.benchmark_fixtures import toys  # noqa: F401
