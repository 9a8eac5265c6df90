"""Rows as messages, and how they get into message systems."""

import asyncio
import json
import time

from everclust.stream import open_source
from support.stream_fixtures import NAMES


def bodies(X):
    return [
        json.dumps(
            {"name": f"r{i}", **dict(zip(NAMES, map(float, row), strict=True)), "kind": "k", "number": i}
        )
        for i, row in enumerate(X)
    ]


def publish_nats(port, stream, messages, **login):
    import nats

    async def publish():
        client = await nats.connect(f"nats://127.0.0.1:{port}", **login)
        context = client.jetstream()
        await context.add_stream(name=stream, subjects=[f"{stream}.>"])
        for message in messages:
            await context.publish(f"{stream}.x", message.encode())
        await client.close()

    asyncio.run(publish())


def publish_mqtt(port, messages):
    from paho.mqtt import client as paho
    from paho.mqtt.enums import CallbackAPIVersion

    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    for message in messages:
        client.publish("readings", message, qos=1).wait_for_publish(10)
    client.disconnect()
    client.loop_stop()


def subscribe_mqtt(url):
    """The broker keeps messages for those who were there before."""
    source = open_source(url)
    next(source.batches())
    time.sleep(0.5)
    source.close()
