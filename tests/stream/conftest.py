import pytest

from support import servers
from support.stream_fixtures import X, call, folder, points, record, sentence  # noqa: F401


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory):
    with servers.valkey(tmp_path_factory.mktemp("valkey")) as port:
        yield port


@pytest.fixture
def client(redis_port):
    import redis

    with redis.Redis(port=redis_port) as client:
        client.flushall()
        yield client
