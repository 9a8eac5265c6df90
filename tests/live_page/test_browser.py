"""The page in a real browser: it appears, moves, pauses, and lists events."""

import os
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from everclust.live_page import live

playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium, or set CHROMIUM"),
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as library:
        # Without its sandbox, for which containers lack the rights; it opens only our own page.
        browser = library.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open a page; at the end, it must have no errors and have requested nothing from other servers."""
    contexts, errors = [], []

    def open_page(url, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on(
            "request", lambda request: request.url.startswith(url.split("?")[0]) or errors.append(request.url)
        )
        tab.on("console", lambda line: line.type == "error" and errors.append(line.text))
        tab.goto(url)
        until(tab, "window.everclust && everclust.scene.n > 0")
        return tab

    open_page.forgive = errors.clear
    yield open_page
    for context in contexts:
        context.close()
    assert not errors


def until(tab, expression, seconds=20):
    """Poll an expression from outside: the page's security policy forbids playwright's own waiting.

    `tab` may be a frame.
    """
    deadline = time.monotonic() + seconds
    while not tab.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < deadline, expression
        tab.wait_for_timeout(40)


def samples(tab):
    return tab.evaluate("everclust.known.n")


def pixels(tab):
    """(number of colours of the canvas, hash of its pixels), once everything is drawn."""
    return tab.evaluate("""async () => {
        for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
        const canvas = document.getElementById("topology");
        const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const data = new Uint32Array(seen.data.buffer);
        let sum = 0;
        for (let k = 0; k < data.length; k++) sum = (Math.imul(sum, 31) + data[k]) | 0;
        return [new Set(data).size, sum];
    }""")


def test_the_page_appears_and_moves(page, feeding, visit):
    tab = visit(page.url)
    tab.wait_for_selector("#table tr")
    assert tab.text_content("#status span") == "learning"
    assert tab.is_hidden("#empty")
    n_colours, before = pixels(tab)
    assert n_colours > 5
    n = samples(tab)
    until(tab, f"everclust.known.n > {n + 100}")
    assert pixels(tab)[1] != before
    # The figures are drawn four times a second, later on a busy machine.
    until(tab, f"Number(document.querySelector('#now-samples').textContent.replaceAll(',', '')) >= {n}")
    n_shown = int(tab.text_content("#now-samples").replace(",", ""))
    assert n_shown >= n
    for name in ("clusters", "nodes", "interval", "vigilance"):
        assert float(tab.text_content(f"#now-{name}").replace(",", "")) > 0


def test_the_page_pauses_and_goes_on(page, feeding, visit):
    tab = visit(page.url)
    tab.click("#pause")
    until(tab, "document.querySelector('#status').dataset.status === 'paused'")
    assert tab.text_content("#pause") == "Go on"
    time.sleep(0.5)
    n = samples(tab)
    time.sleep(0.5)
    assert samples(tab) == n
    tab.click("#step")
    until(tab, f"everclust.known.n > {n}")
    n = samples(tab)
    time.sleep(0.4)
    assert samples(tab) == n
    tab.click("#pause")
    until(tab, f"everclust.known.n > {n}")
    tab.locator("#topology").focus()
    tab.keyboard.press("Space")
    until(tab, "document.querySelector('#status').dataset.status === 'paused'")


def test_a_merger_is_in_the_log(page, model, merging, visit):
    tab = visit(page.url)
    model.partial_fit(merging[2000:])
    merger = next(event for event in reversed(model.events()) if event.kind == "merged")
    line = tab.locator("#log li[data-kind=merged]", has_text=f"merged into {merger.after[0]}").first
    line.wait_for()
    assert "merged" in tab.text_content("#counts")
    until(tab, "document.querySelector('#now-samples').textContent === '6,000'")


def test_two_viewers_at_once_and_one_leaves(page, feeding, visit):
    one, other = visit(page.url), visit(page.url)
    n = samples(other)
    until(one, f"everclust.known.n > {n}")
    until(other, f"everclust.known.n > {n}")
    one.close()
    deadline = time.monotonic() + 10
    while page.control.watcher.n_viewers > 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    n = samples(other)
    until(other, f"everclust.known.n > {n}")


def test_the_server_stops(page, visit):
    tab = visit(page.url)
    page.stop()
    until(tab, "['stopped', 'lost'].includes(document.querySelector('#status').dataset.status)")
    assert tab.is_disabled("#pause")
    assert tab.evaluate("everclust.scene.n") > 0  # the last frame stays
    visit.forgive()  # the browser reports the lost connection


def test_a_server_that_hangs_is_shown(page, visit, monkeypatch):
    tab = visit(page.url)
    until(tab, "document.querySelector('#status').dataset.status == 'learning'")
    hangs = threading.Event()
    hangs.set()
    wait = page.control.watcher.wait

    def hang(*arguments):
        while hangs.is_set():
            time.sleep(0.05)
        return wait(*arguments)

    monkeypatch.setattr(page.control.watcher, "wait", hang)
    until(tab, "document.querySelector('#status').dataset.status == 'silent'")
    assert tab.inner_text("#status") == "the server does not answer"
    assert tab.is_disabled("#pause")
    hangs.clear()
    until(tab, "document.querySelector('#status').dataset.status == 'learning'")


def test_a_view_only_page_has_no_buttons(model, visit):
    with live(model, view_only=True) as page:
        tab = visit(page.url)
        assert not tab.is_visible("#pause")
        tab.keyboard.press("Space")
        tab.keyboard.press(".")
        assert not page.control.watcher.paused


def test_a_cluster_shows_its_details(page, model, visit):
    tab = visit(page.url)
    tab.locator("#table tr").first.click()
    cluster = int(model.cluster_report()["size"].idxmax())
    tab.wait_for_selector("#details .feature")
    assert tab.text_content("#details h2") == f"Cluster {cluster}"
    profile = model.cluster_profile().loc[cluster]
    most = profile.abs().idxmax()
    assert tab.text_content("#details .feature span") == most
    shown = tab.locator("#details .feature").first.locator("span").last.text_content()
    assert float(shown.replace("−", "-")) == pytest.approx(profile[most], abs=0.006)
    tab.locator("#details button").click()
    assert tab.is_hidden("#details")
    tab.locator("#table tr").first.click()
    assert tab.is_visible("#details")
    tab.keyboard.press("Escape")
    assert tab.is_hidden("#details")


def test_pointing_at_a_node_shows_its_details(page, model, visit):
    tab = visit(page.url)
    until(tab, "everclust.topology.nDrawn > 1 && !everclust.topology.stale")
    where = tab.evaluate("""() => {
        const { topology, scene } = everclust, k = scene.label.findIndex((id) => id >= 0);
        const box = document.getElementById("topology").getBoundingClientRect();
        return [box.left + topology.spot[2 * k], box.top + topology.spot[2 * k + 1]];
    }""")
    tab.mouse.move(*where)
    tab.wait_for_selector("#hint dl")
    assert "Node of cluster" in tab.text_content("#hint b")
    tab.mouse.click(*where)
    tab.wait_for_selector("#details .feature")


def test_any_two_features_can_be_axes(page, visit):
    tab = visit(page.url)
    assert "principal" in tab.evaluate("everclust.topology.axes[0]")
    tab.select_option("#axis-x", "2")
    until(tab, "everclust.topology.axes.join() === 'x2,x0'")
    tab.select_option("#axis-y", "1")
    until(tab, "everclust.topology.axes.join() === 'x2,x1'")
    tab.select_option("#axis-y", "")
    until(tab, "everclust.topology.axes[0].includes('principal')")


def test_dark_and_light(page, visit):
    tab = visit(page.url, color_scheme="dark")
    shade = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(shade)
    tab.click("#theme")
    light = tab.evaluate(shade)
    assert dark != light
    tab.reload()
    until(tab, "window.everclust && everclust.scene.n > 0")
    assert tab.evaluate(shade) == light  # the choice is remembered


def test_a_browser_that_blocks_storage_shows_the_page(page, browser):
    """As in a notebook's frame, where storage of other sites is blocked."""
    with browser.new_context() as context:
        tab, errors = context.new_page(), []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.add_init_script("""Object.defineProperty(window, "localStorage", {
            get() { throw new DOMException("The request was denied.", "SecurityError"); } })""")
        tab.goto(page.url)
        until(tab, "window.everclust && everclust.scene.n > 0")
        shade = "getComputedStyle(document.body).backgroundColor"
        before = tab.evaluate(shade)
        tab.click("#theme")
        assert tab.evaluate(shade) != before
        assert not errors


# What VS Code lets the frame around an output do; that it lets pages keep their origin is what ours lives on.
VSCODE = "allow-scripts allow-same-origin allow-forms allow-pointer-lock allow-downloads"


@pytest.fixture
def notebook(page):
    """Serve a page of another site, which shows the output in a frame of its own, as notebooks of VS Code do.

    A browser refuses that a page from elsewhere frames one of this machine, so it is a real server.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, sandbox = self.path.partition("?")
            frame = f'<iframe src="/output" sandbox="{unquote(sandbox)}" width="1200" height="760"></iframe>'
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((page._repr_html_() if path == "/output" else frame).encode())

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def frame_of(tab, ending, seconds=20):
    """The frame whose address ends so, as soon as it is there."""
    deadline = time.monotonic() + seconds
    while not (found := [frame for frame in tab.frames if frame.url.endswith(ending)]):
        assert time.monotonic() < deadline, [frame.url for frame in tab.frames]
        tab.wait_for_timeout(40)
    return found[0]


@pytest.mark.parametrize("storage", ["allowed", "blocked"])
def test_a_notebook_of_another_site_shows_the_page(page, notebook, browser, storage):
    """The output is a plain frame, which needs no script of the notebook."""
    assert "<script" not in page._repr_html_()
    with browser.new_context() as context:
        tab = context.new_page()
        if storage == "blocked":
            tab.add_init_script("""Object.defineProperty(window, "localStorage", {
                get() { throw new DOMException("The request was denied.", "SecurityError"); } })""")
        tab.goto(f"http://localhost:{notebook}/?{VSCODE}")
        shown = frame_of(tab, page.url)
        until(shown, "window.everclust && everclust.scene.n > 0")
        before = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        shown.click("#theme")
        assert shown.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_a_frame_that_may_not_keep_its_origin_says_where_to_look(page, notebook, browser):
    """What it asks for looks like requests of a hostile page, so the page stays empty."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"http://localhost:{notebook}/?allow-scripts")
        output = frame_of(tab, "/output")
        assert output.locator("small").inner_text().startswith(f"Nothing to see? Open {page.url}")
        assert output.locator("a").get_attribute("href") == page.url


def test_pages_of_other_machines_cannot_frame_the_page(page, notebook, browser):
    with browser.new_context() as context:
        tab = context.new_page()
        refused = []
        tab.on("console", lambda line: refused.append(line.text))
        tab.goto(f"http://evil.localhost:{notebook}/?{VSCODE}")  # as DNS might name this machine
        frame_of(tab, "chrome-error://chromewebdata/")
        assert any("frame-ancestors" in text for text in refused)


def test_colours_are_permanent(page, model, merging, visit):
    tab = visit(page.url)
    colours = """() => Object.fromEntries([...document.querySelectorAll('#table tr')].map(
        (row) => [row.dataset.id, row.querySelector('.chip').style.background]))"""
    tab.wait_for_selector("#table tr")
    before = tab.evaluate(colours)
    model.partial_fit(merging[2000:])
    until(tab, "everclust.known.n === 6000")
    time.sleep(0.8)
    after = tab.evaluate(colours)
    assert set(before) & set(after)
    assert all(before[c] == after[c] for c in set(before) & set(after))


def test_the_token_is_required(model, visit, browser):
    with live(model, host="0.0.0.0") as open_page:
        tab = visit(open_page.url)
        assert "token" not in tab.url
        stranger = browser.new_context()
        try:
            answer = stranger.new_page().goto(open_page.url.split("?")[0])
            assert answer.status == 403
        finally:
            stranger.close()


def test_other_pages_cannot_press_its_buttons(page, visit, browser):
    visit(page.url)
    context = browser.new_context()
    try:
        elsewhere = context.new_page()
        elsewhere.route(
            "http://evil.example/", lambda route: route.fulfill(body="<p>hello", content_type="text/html")
        )
        elsewhere.goto("http://evil.example/")
        elsewhere.evaluate(f"fetch('{page.url}pause', {{method: 'POST', mode: 'no-cors'}}).catch(() => 0)")
        time.sleep(0.5)
        assert not page.control.watcher.paused
    finally:
        context.close()


def test_a_narrow_screen_has_no_sideways_scrolling(page, visit):
    tab = visit(page.url, viewport={"width": 390, "height": 844})
    tab.wait_for_selector("#table tr")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
