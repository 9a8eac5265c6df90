"""An address that events can be sent to."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Accepts events, after a delay and some refusals."""

    def __init__(self, port=0, delay=0.0, refusals=0):
        self.batches, self.keys, self.delay, self.refusals = [], [], delay, refusals
        self.heads = []
        outer = self

        class Hook(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(outer.delay)
                outer.refusals -= 1
                outer.keys.append(self.headers["Idempotency-Key"])
                outer.heads.append(dict(self.headers))
                if outer.refusals < 0:
                    outer.batches.append(body)
                self.send_response(503 if outer.refusals >= 0 else 204)
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Hook)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    @property
    def events(self):
        return [event for batch in self.batches for event in batch]

    def samples(self):
        return [(event["sample"], event["number"]) for event in self.events]


@contextmanager
def receiving(**options):
    receiver = Receiver(**options)
    threading.Thread(target=receiver.server.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()


def wait_for(is_so, seconds=10):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
