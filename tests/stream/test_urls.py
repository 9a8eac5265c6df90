"""Passwords, tokens and TLS in addresses: they work, and nothing that is secret is ever shown or kept."""

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from everclust import load
from everclust.stream import StreamError, open_source
from everclust.stream.columns import Columns
from everclust.stream.urls import address_of, without_password
from support import servers
from support.messages import bodies, publish_nats
from support.stream_fixtures import NAMES

SECRET = "p@ss/wörd#?%"
QUOTED = "p%40ss%2Fw%C3%B6rd%23%3F%25"


@pytest.fixture
def messages(X):
    return bodies(X[:300])


def fit(url, *more):
    return [
        "fit",
        url,
        "-m",
        "m",
        "--columns",
        ",".join(NAMES),
        "--limit",
        300,
        "--checkpoint",
        "kept",
        *more,
    ]


def everything_kept(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(
        errors="replace"
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("points.csv", "points.csv"),
        ("a@b/c?token=x", "a@b/c?token=x"),
        ("redis://host/s?group=g", "redis://host/s?group=g"),
        ("redis://:secret@host:1/s", "redis://host:1/s"),
        ("rediss://me:secret@host/s?db=2", "rediss://me@host/s?db=2"),
        ("nats://secret@host/s", "nats://host/s"),
        ("nats://me:secret@a:1,b:2/s", "nats://me@a:1,b:2/s"),
        ("mqtts://me:sec@ret@host/t", "mqtts://me@host/t"),
        ("kafka://me:secret@a,b:9/t?group=g", "kafka://me@a,b:9/t?group=g"),
        ("kafka://h/t?sasl.password=secret&group=g&ssl.key.password=secret", "kafka://h/t?group=g"),
        (
            "kafka://h/t?sasl.username=me&sasl.oauthbearer.client.secret=secret",
            "kafka://h/t?sasl.username=me",
        ),
        ("redis://me:sec/ret@host/s", "redis://host/s"),
        ("redis://me:12/secret@host/s", "redis://host/s"),
        ("redis://me:12#secret@host/s", "redis://host/s"),
        ("redis://me:12?secret@host/s", "redis://host/s"),
        ("redis://me:sec[ret@host/s", "redis://host/s"),
        ("ftp://me:secret@host/x.csv", "ftp://me@host/x.csv"),
    ],
)
def test_what_may_be_shown(url, shown):
    assert without_password(url) == shown


def test_an_address_is_taken_apart():
    url = f"redis://m%40e:{QUOTED}@[::1]:9/st%2Fream?db=2"
    address = address_of(url, 6379, "stream", ("db",))
    assert address.shown == "redis://m%40e@[::1]:9/st%2Fream?db=2"
    assert (address.user, address.password) == ("m@e", SECRET)
    assert (address.hosts, address.name, address.options) == ([("::1", 9)], "st/ream", {"db": "2"})
    several = address_of("kafka://a,b:9/t?ssl.ca.location=x", 1, "topic", (), dotted=True)
    assert several.hosts == [("a", 1), ("b", 9)]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://me:sec/ret@host/s", "no valid URL"),
        ("redis://me:secret@host:port/s", "no valid URL"),
        ("redis://me:secret@host", "names no stream"),
        ("redis://me:secret@host/s?password=secret", "unknown option, password"),
        ("redis://me:secret@host/s?db=x", "must be a number"),
        ("redis://me:secret@a,b/s", "several hosts"),
        ("nats://me:secret@host/s?from=middle", "earliest or latest"),
        ("mqtt://me:secret@host/sensors/#", "write it as %23"),
        ("kafka://me:secret@host/t?no.such.setting=1", "no.such.setting"),
        ("postgres://me:secret@host/t", "unknown scheme 'postgres'"),
    ],
)
def test_addresses_that_make_no_sense(url, reason):
    for package in ("redis", "nats", "paho.mqtt", "confluent_kafka"):
        pytest.importorskip(package)
    with pytest.raises(StreamError, match=reason) as caught:
        open_source(url)
    assert "sec" not in str(caught.value)


# Servers that want a password


@pytest.fixture
def guarded_valkey(tmp_path_factory, messages):
    """Reached by a password alone, or by a name and a password."""
    import redis

    with servers.valkey(tmp_path_factory.mktemp("valkey"), "--requirepass", SECRET) as port:
        with redis.Redis(port=port, password=SECRET) as client:
            client.acl_setuser("me", enabled=True, passwords=[f"+{SECRET}"], keys=["*"], commands=["+@all"])
            for message in messages:
                client.xadd("readings", {"data": message})
        yield port


@pytest.mark.parametrize("user", ["", "me"])
def test_redis_with_a_password(guarded_valkey, folder, user, call, points):
    place = f"127.0.0.1:{guarded_valkey}"
    said = call(
        *fit(
            f"redis://{user}:{QUOTED}@{place}/readings", "--json", "-e", f"redis://{user}:{QUOTED}@{place}/e"
        )
    )
    assert json.loads(said)["rows"] == 300
    assert load("m").n_samples_seen_ == 300
    kept = everything_kept(folder)
    assert "events redis://" in kept
    assert SECRET not in kept + said
    assert QUOTED not in kept + said


@pytest.mark.parametrize("login", ["", ":wrongword@", "me:wrongword@"])
def test_redis_with_a_wrong_password(guarded_valkey, folder, login, sentence):
    for more in ([], ["--json"]):
        said = sentence_or_record(
            sentence, *fit(f"redis://{login}127.0.0.1:{guarded_valkey}/readings"), *more
        )
        assert "refuses the connection" in said
        assert "wrongword" not in said + everything_kept(folder)


def sentence_or_record(sentence, *words):
    """What is said when a server does not answer, in words or as JSON."""
    if words[-1] != "--json":
        return sentence(*words, code=5)
    from typer.testing import CliRunner

    from everclust.cli.app import app

    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 5
    return json.loads(result.stderr)["error"]


@pytest.mark.parametrize(
    ("guard", "known", "login", "wrong"),
    [
        (
            ["--user", "me", "--pass", SECRET],
            {"user": "me", "password": SECRET},
            f"me:{QUOTED}@",
            "me:wrongword@",
        ),
        (["--auth", SECRET], {"token": SECRET}, f"{QUOTED}@", "wrongword@"),
    ],
    ids=["password", "token"],
)
def test_nats_with_a_password_or_a_token(
    guard, known, login, wrong, folder, tmp_path_factory, messages, call, sentence
):
    with servers.nats(tmp_path_factory.mktemp("nats"), *guard) as port:
        place = f"127.0.0.1:{port}/readings"
        publish_nats(port, "readings", messages, **known)
        for bad in (wrong, ""):
            said = sentence(*fit(f"nats://{bad}{place}"), code=5)
            assert "refuses the connection" in said
            assert "wrongword" not in said
        said = call(*fit(f"nats://{login}{place}", "--json"))
        assert json.loads(said)["rows"] == 300
    kept = everything_kept(folder)
    assert "nats://" in kept
    assert SECRET not in kept + said
    assert QUOTED not in kept + said


def test_mqtt_with_a_password(tmp_path, sentence):
    words = tmp_path / "words"
    with servers.mosquitto(
        tmp_path, more=f"allow_anonymous false\npassword_file {words}", before=words.touch
    ) as port:
        said = sentence(*fit(f"mqtt://me:wrongword@127.0.0.1:{port}/readings"), code=5)
    assert "refuses the connection: Not authorized" in said
    assert "wrongword" not in said


def test_kafka_logs_in_as_the_address_says():
    pytest.importorskip("confluent_kafka")
    from everclust.stream.sources.kafka import KafkaTopic

    port = servers.free_port()
    url = f"kafka://me:{QUOTED}@127.0.0.1:{port},127.0.0.1/t?group=g"
    source = KafkaTopic(url, Columns())
    settings = source._settings(address_of(url, 9092, "topic", ("group",), dotted=True))
    assert settings["bootstrap.servers"] == f"127.0.0.1:{port},127.0.0.1:9092"
    assert (settings["sasl.username"], settings["sasl.password"]) == ("me", SECRET)
    assert (settings["security.protocol"], settings["sasl.mechanism"]) == ("SASL_SSL", "PLAIN")
    assert source.url == f"kafka://me@127.0.0.1:{port},127.0.0.1/t?group=g"
    source.close()
    more = address_of(f"{url}&sasl.mechanism=SCRAM-SHA-256", 9092, "topic", ("group",), dotted=True)
    assert source._settings(more)["sasl.mechanism"] == "SCRAM-SHA-256"


def test_kafka_with_a_password_that_is_not_asked_for(monkeypatch, sentence):
    monkeypatch.setattr("everclust.stream.sources.kafka.TIMEOUT", 1.0)
    monkeypatch.setattr("everclust.stream.reconnect.MAX_OUTAGE", 1.0)
    kafka = servers.Kafka()
    options = "security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&sasl.username=me&sasl.password=wrongword"
    said = sentence(*fit(f"kafka://{kafka.server}/t?{options}"), code=5)
    assert "does not answer" in said
    assert "wrongword" not in said


def test_webhooks_are_logged_in_to_and_shown_by_their_host(points, X, call, folder, sentence, monkeypatch):
    got = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Authorization"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://me:s%40cret@127.0.0.1:{server.server_port}/hidden/way"
    words = [
        "fit",
        points,
        "--algorithm",
        "idat",
        "-m",
        "m",
        "--id",
        "name",
        "--label",
        "kind",
        "--limit",
        300,
        "--checkpoint",
        "kept",
    ]
    call(*words, "-e", url)
    server.shutdown()
    server.server_close()
    assert set(got) == {("/hidden/way", "Basic bWU6c0BjcmV0")}
    monkeypatch.setattr("everclust.stream.sinks.queued.LAST_SECONDS", 0.5)
    said = sentence(*words, "--checkpoint", "other", "--force", "-e", url, code=5)
    assert said.startswith(f"http://127.0.0.1:{server.server_port}/… does not accept events: ")
    kept = everything_kept(folder)
    assert "hidden" not in kept + said
    assert "cret" not in kept + said


# TLS


@pytest.fixture
def certificate(tmp_path):
    """Of this machine, signed by itself."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    key, signed = tmp_path / "key.pem", tmp_path / "signed.pem"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    words += [
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout",
        str(key),
        "-out",
        str(signed),
    ]
    subprocess.run(words, check=True, capture_output=True)
    return key, signed


def run_everclust(folder, words, **environment):
    command = [sys.executable, "-c", "from everclust.cli import main; main()", *map(str, words)]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check_tls(folder, words, certificate, code=0):
    """It works with the certificate, and without it one sentence says why it does not."""
    done = run_everclust(folder, words)
    assert done.returncode == 5
    assert "CERTIFICATE_VERIFY_FAILED" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = run_everclust(folder, words, SSL_CERT_FILE=str(certificate[1]))
    assert done.returncode == code, done.stderr
    return done.stderr


@pytest.mark.slow
def test_nats_with_tls(certificate, folder, tmp_path_factory):
    key, signed = certificate
    tls = ["--tls", "--tlscert", str(signed), "--tlskey", str(key)]
    with servers.nats(tmp_path_factory.mktemp("nats"), *tls) as port:
        said = check_tls(folder, fit(f"nats://localhost:{port}/nothing"), certificate, code=1)
    assert said == f"nats://localhost:{port}/nothing has no stream 'nothing'; check its name.\n"


@pytest.mark.slow
def test_redis_with_tls(certificate, folder, tmp_path_factory, messages):
    """This Valkey may have been built without TLS, so a proxy adds it."""
    with servers.valkey(tmp_path_factory.mktemp("valkey")) as port:
        import redis

        with redis.Redis(port=port) as client:
            for message in messages:
                client.xadd("readings", {"data": message})
        between = servers.Proxy(port, tls=certificate)
        assert check_tls(folder, fit(f"rediss://localhost:{between.port}/readings"), certificate) == ""
        between.close()
    assert load("m").n_samples_seen_ == 300


@pytest.mark.slow
def test_mqtt_with_tls(certificate, folder, tmp_path_factory):
    with servers.mosquitto(tmp_path_factory.mktemp("mosquitto")) as port:
        between = servers.Proxy(port, tls=certificate)
        words = fit(f"mqtts://localhost:{between.port}/readings", "--idle", 1)
        assert check_tls(folder, words, certificate) == ""
        between.close()
