from support.stream_fixtures import X, call, folder, points, record, sentence  # noqa: F401
