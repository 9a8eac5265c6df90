from support.benchmark_fixtures import toys  # noqa: F401
from support.stream_fixtures import X, call, folder, points, record, sentence  # noqa: F401
