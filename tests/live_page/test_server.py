"""The server as clients see it: the page, frames, commands, and which requests are refused."""

import re
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from everclust import IDAT
from everclust.live_page import live, server


def test_the_page_is_complete_and_loads_nothing_from_elsewhere(page, ask):
    answer = ask(page.url, "/")
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    names = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert {"page.css", "page.js", "mark.svg"} <= set(names)
    total, seen = len(answer.text), set()
    while names:
        name = names.pop().removeprefix("./")
        if name not in seen:
            seen.add(name)
            part = ask(page.url, f"/{name}")
            assert part.status == 200, name
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", part.text), name
            names += re.findall(r'from "([^"]+)"', part.text)
            total += len(part.text)
    assert total < 80_000


def test_frames_describe_the_model(page, model, follow):
    follower = follow(page.url, "?x=0&y=2")
    follower.read_until(lambda seen: "at" in seen.known)
    now, known = model.snapshot(), follower.known
    assert known["n"] == 2000
    assert known["axes"] == ["x0", "x2"]
    low, high = np.array(known["box"]).reshape(2, 2)
    at = low + follower.array("at", "<u2").reshape(-1, 2) / 65535 * (high - low)
    np.testing.assert_allclose(at, now.prototypes[:, [0, 2]], atol=1e-4 * (high - low).max())
    assert follower.array("label", "<i4").tolist() == now.node_labels.tolist()
    assert follower.array("edges", "<u2").reshape(-1, 2).tolist() == now.edges.tolist()
    assert len(follower.array("sample_label", "<i4")) == len(follower.array("samples", "<u2")) // 2 > 0
    n_seen, rows = known["table"]
    table = {row[0]: row[1] for row in rows}
    assert n_seen == 2000
    assert table == {c: model.cluster_report()["size"][c] for c in table}
    assert follower.points[-1] == [2000, now.interval, now.vigilance, len(now.usage), now.n_clusters]
    assert len(known["palette"]) > 50


def test_a_frame_leaves_out_what_is_known(page, model, merging, follow):
    follower = follow(page.url)
    follower.read_until(lambda seen: "at" in seen.known)
    model.partial_fit(merging[2000:2001])
    follower.read_until(lambda seen: seen.known["n"] == 2001)
    last = follower.frames[-1]
    assert "at" in last
    assert not {"features", "axes", "palette", "status"} & set(last)


def test_a_server_with_nothing_to_show_says_that_it_is_alive(page, follow):
    """As messages, because scripts cannot see comments: without them a server that hangs looks well."""
    follower = follow(page.url)
    follower.read_until(lambda seen: seen.kinds.count("alive") >= 2)


@pytest.mark.parametrize("theme", ["", '[data-theme="dark"]'])
def test_text_has_enough_contrast(theme):
    """WCAG AA: 4.5 to 1."""
    css = (Path(server.__file__).parent / "static/page.css").read_text()
    (block,) = re.findall(rf":root{re.escape(theme)} {{(.*?)}}", css, re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w{6})", block))
    texts = set(re.findall(r"[{;]\s*color: var\(--(\w+)\)", css)) - {"on"}
    assert {"ink", "soft"} <= texts
    for text in texts & colours.keys():
        for ground in ("paper", "raised"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_merger_is_sent(page, model, merging, follow):
    follower = follow(page.url)
    follower.read_until(lambda seen: "at" in seen.known)
    model.partial_fit(merging[2000:])
    follower.read_until(lambda seen: seen.known["n"] == len(merging))
    sent = next(event for event in follower.events if event[1] == "merged" and event[0] > 2000)
    real = next(event for event in model.events(2000) if event.kind == "merged" and event.sample == sent[0])
    assert (sent[2], sent[3]) == (list(real.before), list(real.after))
    counts = follower.known["counts"]
    assert counts == {kind: sum(event.kind == kind for event in model.events()) for kind in counts}


def test_two_viewers_may_look_at_different_planes(page, feeding, follow):
    one, other = follow(page.url), follow(page.url, "?x=1&y=2")
    for follower in (one, other):
        follower.read_until(lambda seen: len(seen.points) > 3)
    assert "principal" in one.known["axes"][0]
    assert other.known["axes"] == ["x1", "x2"]
    assert page.control.watcher.n_viewers == 2


def test_a_viewer_that_vanishes_is_forgotten(page, feeding, follow):
    stays, vanishes = follow(page.url), follow(page.url)
    vanishes.read_until(lambda seen: "at" in seen.known)
    vanishes.close()
    _until(lambda: page.control.watcher.n_viewers == 1)
    n = stays.known.get("n", 0)
    stays.read_until(lambda seen: seen.known.get("n", 0) > n)


def test_a_viewer_that_reads_nothing_is_disconnected(page, model, merging, monkeypatch):
    monkeypatch.setattr(server.Handler, "timeout", 0.3)
    monkeypatch.setattr(server, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(server, "as_message", lambda kind, record: b": " + bytes(2**18) + b"\n\n")
    host, port = urlsplit(page.url).netloc.split(":")
    with socket.create_connection((host, int(port))) as lazy:
        lazy.sendall(f"GET /frames HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        _until(lambda: page.control.watcher.n_viewers == 1)
        for k in range(40):
            model.partial_fit(merging[k : k + 1])
            time.sleep(0.08)
            if page.control.watcher.n_viewers == 0:
                return
    pytest.fail("the viewer is still there")


def test_viewers_are_notified_when_the_server_stops(page, follow, ask):
    follower = follow(page.url)
    follower.read_until(lambda seen: "at" in seen.known)
    page.stop()
    follower.read_until(lambda seen: seen.kinds[-1] == "stopped")
    with pytest.raises(ConnectionRefusedError):
        ask(page.url, "/")


def test_the_number_of_viewers_is_limited(page, follow, monkeypatch):
    monkeypatch.setattr(server, "MAX_VIEWERS", 1)
    follow(page.url).read()
    assert follow(page.url).response.status == 503


def test_the_view_of_a_model_that_its_caller_feeds_can_be_paused(page, model, merging, follow, ask):
    follower = follow(page.url)
    follower.read_until(lambda seen: "at" in seen.known)
    assert ask(page.url, "/pause", "POST").json()["status"] == "paused"
    follower.read_until(lambda seen: seen.known["status"] == "paused")
    model.partial_fit(merging[2000:2100])
    time.sleep(0.3)
    assert page.control.watcher.capture.snapshot.n_samples_seen == 2000
    ask(page.url, "/step", "POST")
    follower.read_until(lambda seen: seen.known["n"] == 2100)
    assert ask(page.url, "/go", "POST").json()["status"] == "learning"
    refused = ask(page.url, "/speed?rows=10", "POST")
    assert refused.status == 400
    assert "Cannot change the speed" in refused.text


def test_a_fit_starts_the_page_again(page, model, merging, follow):
    follower = follow(page.url)
    follower.read_until(lambda seen: "at" in seen.known)
    model.fit(merging[:500])
    follower.read_until(lambda seen: seen.known["n"] == 500)
    assert follower.frames[-1]["reset"]
    assert follower.frames[-1]["trace"][0][0] == 500


def test_a_new_model_is_waited_for(merging, follow):
    model = IDAT()
    with live(model) as page:
        follower = follow(page.url)
        follower.read_until(lambda seen: "status" in seen.known)
        assert "at" not in follower.known
        model.partial_fit(merging[:100])
        follower.read_until(lambda seen: seen.known.get("n") == 100)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_any_width_can_be_shown(width, follow):
    X = np.random.default_rng(0).normal(size=(300, width))
    with live(IDAT().partial_fit(X)) as page:
        follower = follow(page.url)
        follower.read_until(lambda seen: "at" in seen.known)
        assert follower.known["equal"] == (width == 5)


def test_a_cluster_can_be_looked_into(page, model, follow, ask):
    follow(page.url).read_until(lambda seen: "table" in seen.known)
    cluster = int(model.cluster_report()["size"].idxmax())
    found = ask(page.url, f"/cluster?id={cluster}").json()
    report, profile = model.cluster_report().loc[cluster], model.cluster_profile().loc[cluster]
    assert [found["size"], found["nodes"]] == [report["size"], report["nodes"]]
    assert found["spread"] == pytest.approx(report["spread"])
    assert {name: differs for name, _, differs in found["features"]} == pytest.approx(dict(profile))
    assert ask(page.url, "/cluster?id=999").status == 404
    assert ask(page.url, "/cluster?id=x").status == 404


def test_a_node_can_be_looked_at(page, model, follow, ask):
    follower = follow(page.url)
    follower.read_until(lambda seen: "birth" in seen.known)
    birth = int(follower.array("birth", "<u4")[-1])
    found = ask(page.url, f"/node?id={birth}").json()
    assert found["usage"] == model.usage_[-1]
    assert found["features"][0] == ["x0", model.prototypes_[-1, 0]]
    assert ask(page.url, "/node?id=999999").status == 404


@pytest.mark.parametrize("path", ["/nothing", "/../pyproject.toml", "/page.html/..", "/static/page.js"])
def test_nothing_else_is_served(page, ask, path):
    assert ask(page.url, path).status == 404
    assert ask(page.url, path, "POST").status == 404


@pytest.mark.parametrize("path", ["/step?rows=0", "/step?rows=x", "/step?rows=99999999"])
def test_senseless_steps_are_refused(page, ask, path):
    assert ask(page.url, path, "POST").status == 400
    assert not page.control.watcher.paused


class TestAccess:
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ],
    )
    def test_buttons_are_for_our_own_page(self, page, ask, headers):
        answer = ask(page.url, "/pause", "POST", **headers)
        assert answer.status == 403
        assert "another page" in answer.text
        assert not page.control.watcher.paused
        assert ask(page.url, "/frames", **headers).status == 403

    def test_our_own_page_may_press_them(self, page, ask):
        origin = page.url.rstrip("/")
        headers = {"Origin": origin, "Sec_Fetch_Site": "same-origin"}
        assert ask(page.url, "/pause", "POST", **headers).status == 200
        assert page.control.watcher.paused

    def test_a_notebook_may_frame_the_page(self, page, ask):
        assert ask(page.url, "/", Sec_Fetch_Site="cross-site").status == 200
        headers = ask(page.url, "/").headers
        assert "X-Frame-Options" not in headers
        allowed = headers["Content-Security-Policy"].partition("frame-ancestors ")[2].split()
        # A browser asks about every page around the frame: in VS Code, a webview within the window.
        assert {"http://localhost:*", "vscode-webview:", "vscode-file:"} <= set(allowed)
        assert f'<iframe src="{page.url}"' in page._repr_html_()
        assert f"ssh -L {page.server.port}:127.0.0.1:{page.server.port}" in page._repr_html_()

    def test_a_notebook_of_a_hub_frames_the_page_of_its_proxy(self, model, ask, monkeypatch):
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ann/")
        with live(model) as page:
            source = f"/user/ann/proxy/{page.server.port}/?{urlsplit(page.url).query}"
            assert f'<iframe src="{source}"' in page._repr_html_()
            assert "pip install jupyter-server-proxy" in page._repr_html_()
            assert ask(page.url, "/", Host="hub.example").status == 403  # others lack the token
            answer = ask(page.url, f"/?{urlsplit(page.url).query}", Host="hub.example")
            assert (answer.status, answer.headers["Location"]) == (303, "./")

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[", ""])
    def test_other_host_names_are_refused(self, page, ask, host):
        for path, method in [("/", "GET"), ("/frames", "GET"), ("/pause", "POST")]:
            assert ask(page.url, path, method, Host=host).status == 403
        assert not page.control.watcher.paused

    @pytest.mark.parametrize("host", ["localhost:8888", "127.0.0.1", "[::1]:99"])
    def test_this_machine_has_several_names(self, page, ask, host):
        assert ask(page.url, "/", Host=host).status == 200


class TestToken:
    @pytest.fixture
    def open_page(self, model):
        with live(model, host="0.0.0.0") as page:
            yield page

    def test_without_it_every_request_is_refused(self, open_page, ask):
        for path, method in [("/", "GET"), ("/page.js", "GET"), ("/frames", "GET"), ("/pause", "POST")]:
            answer = ask(open_page.url, path, method)
            assert answer.status == 403
            assert "token" in answer.text
            assert ask(open_page.url, f"{path}?token=wrong", method).status == 403
            assert ask(open_page.url, path, method, Cookie="everclust-1=wrong; =;;").status == 403
        assert not open_page.control.watcher.paused

    def test_it_moves_from_the_address_into_a_cookie(self, open_page, ask, follow):
        url = urlsplit(open_page.url)
        assert len(url.query) > 25
        answer = ask(open_page.url, f"/?{url.query}")
        assert (answer.status, answer.headers["Location"]) == (303, "./")
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        cookie = cookie.split(";")[0]
        assert ask(open_page.url, "/", Cookie=cookie).status == 200
        assert follow(open_page.url, Cookie=cookie).response.status == 200
        answer = ask(open_page.url, "/pause", "POST", Cookie=cookie)
        assert answer.status == 403
        assert "view-only" in answer.text
        assert not open_page.control.watcher.paused
        evil = ask(open_page.url, "/go", "POST", Cookie=cookie, Origin="http://evil.example")
        assert evil.status == 403

    def test_viewers_may_be_trusted(self, model, ask, follow):
        with live(model, host="0.0.0.0", view_only=False) as page:
            cookie = f"everclust-{page.server.port}={urlsplit(page.url).query.removeprefix('token=')}"
            assert ask(page.url, "/pause", "POST", Cookie=cookie).status == 200
            assert page.control.watcher.paused
            follower = follow(page.url, Cookie=cookie)
            follower.read()
            assert follower.known["view_only"] is False

    def test_viewers_on_this_machine_may_be_kept_out(self, model, ask, follow):
        with live(model, view_only=True) as page:
            assert ask(page.url, "/pause", "POST").status == 403
            follower = follow(page.url)
            follower.read()
            assert follower.known["view_only"] is True

    def test_it_may_come_from_the_environment(self, model, ask, monkeypatch):
        monkeypatch.setenv("EVERCLUST_TOKEN", "a-fixed-token-of-mine")
        for host in ("0.0.0.0", "127.0.0.1"):
            with live(model, host=host) as page:
                assert ask(page.url, "/").status == 403
                assert ask(page.url, "/?token=a-fixed-token-of-mine").status == 303
                assert page.url.endswith("?token=a-fixed-token-of-mine")
                assert "a-fixed-token" not in page.shown + repr(page), "no log should hold it"

    @pytest.mark.parametrize("token", ["short", "with a blank in it, long enough", "über-und-nicht-ascii"])
    def test_a_weak_one_is_refused(self, model, monkeypatch, token):
        monkeypatch.setenv("EVERCLUST_TOKEN", token)
        with pytest.raises(ValueError, match=r"EVERCLUST_TOKEN holds .* a token needs 16 or more") as caught:
            live(model)
        assert token not in str(caught.value)

    def test_every_page_has_its_own(self, model, open_page):
        with live(model, host="0.0.0.0") as other:
            assert urlsplit(other.url).query != urlsplit(open_page.url).query


@pytest.mark.parametrize("other", [None, make_pipeline(StandardScaler(), IDAT()), IDAT])
def test_what_is_no_model_is_refused_at_once(other):
    with pytest.raises(TypeError, match="shows an EverClust or IDAT model, but it got"):
        live(other)


def test_a_port_in_use_is_named(page, model):
    with pytest.raises(OSError, match="in use") as caught:
        live(model, port=page.server.port)
    assert caught.value.filename == f"Port {page.server.port} of 127.0.0.1"


def _until(is_so, seconds=10):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
