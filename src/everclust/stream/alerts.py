"""Alerts: on kinds of events, and when the share of novel or of skipped rows rises above a limit."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ..text import counted
from .batch import StreamError
from .job import Run
from .secrets import expanded
from .sinks.command import Command
from .sinks.events import EventSink
from .sinks.json_lines import JsonLinesFile
from .sinks.queued import QueuedEvents, mark_of
from .sinks.webhook import Webhook
from .start_note import StartNote

KINDS = ("born", "gone", "split", "merged", "quiet", "back", "revised")
SHARES = ("novel", "skipped")
WINDOW = 1_000  # rows over which a share is measured: one of 5 % is then off by 0.7 % (standard error)
CLEARED = 0.5  # of a limit, at which an alert may come again: 3.6 standard errors below a limit of 5 %
FIRST_NUMBER = 1_000_000  # of alerts on shares within a sample, behind the events of that sample


class Conditions(NamedTuple):
    """What to alert on."""

    kinds: frozenset[str]
    limits: dict[str, float]  # by share


def conditions_of(text: str) -> Conditions:
    """Parse `born,merged,novel>0.2,skipped>0.05`."""
    kinds, limits = set(), {}
    for word in (part.strip() for part in text.split(",")):
        limit = re.fullmatch(r"(\w+)\s*>\s*(\S+)", word)
        if word in KINDS:
            kinds.add(word)
        elif limit is not None and limit[1] in SHARES and _is_share(limit[2]):
            limits[limit[1]] = float(limit[2])
        else:
            raise StreamError(_unknown(word))
    return Conditions(frozenset(kinds), limits)


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False


def _unknown(word: str) -> str:
    name = re.match(r"\w*", word)
    near = difflib.get_close_matches(name[0] if name else "", (*KINDS, *SHARES), 1)
    hint = f"; did you mean {near[0] + '>0.2' if near[0] in SHARES else near[0]}?" if near else "."
    return (
        f"--alert-on has {word!r}, but it takes {', '.join(KINDS)}, novel>0.2 and skipped>0.05, with limits "
        f"between 0 and 1{hint}"
    )


def open_alert_sink(
    target: str,
    queue: Callable[[str], Path],
    warn: Callable[[str], None],
    heads: Mapping[str, str] = MappingProxyType({}),
) -> EventSink:
    """A webhook, which gets the headers `heads`, a file of JSON Lines, or `exec:command`."""
    mark, target = mark_of(target), expanded(target)
    if target.startswith(("http://", "https://")):
        hook = Webhook(target, heads)  # two webhooks may have the same host
        return QueuedEvents(hook, f"{hook.shown} {mark}", queue(f"alerts-{mark}"), warn)
    if target.startswith("exec:"):
        command = Command(target.removeprefix("exec:"))
        return QueuedEvents(command, f"{command.shown} {mark}", queue(f"alerts-{mark}"), warn)
    if "://" in target or target == "-":
        raise StreamError(
            f"--alert-to is {target.partition('://')[0]}://…, but it takes https://…, a file or exec:command."
            if "://" in target
            else "--alert-to is -, but it takes https://…, a file or exec:command."
        )
    return JsonLinesFile(target)


class Alerts:
    """An event sink that passes alerts on to sinks of its own.

    An alert on a share comes once, when the share of a window of rows exceeds its limit. It may come again
    after the share of a window was at most half of the limit.
    """

    name = "alerts"

    def __init__(self, conditions: Conditions, sinks: Sequence[EventSink], note: Path | None = None) -> None:
        self.conditions, self.sinks = conditions, list(sinks)
        self.note = StartNote(note)  # of where files begin
        self.window: dict[str, int] | None = None  # counts when it began
        self.raised: set[str] = set()  # shares above their limits

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Alert on events of the chosen kinds."""
        self._send(
            [{"alert": "event", **event} for event in events if event["kind"] in self.conditions.kinds]
        )

    def begin(self, job: Run) -> None:
        """Begin the first window of a run that was not resumed."""
        if self.window is None:
            self.window = _counts(job)

    def check(self, job: Run) -> None:
        """Alert on shares, after a block was processed."""
        assert self.window is not None
        now = _counts(job)
        rows = {name: now[name] - self.window[name] for name in now}
        if rows["read"] < WINDOW:
            return
        is_young = self.window["learnt"] < WINDOW  # everything is novel to a new model
        self.window = now
        shares = {"skipped": rows["skipped"] / rows["read"]}
        if rows["learnt"] and not is_young:
            shares["novel"] = rows["founded"] / rows["learnt"]
        found = [self._crossed(name, shares[name], rows["read"]) for name in SHARES if name in shares]
        places = {"sample": job.n_seen, "rows": job.rows}
        alerts = [
            {**alert, **places, "number": FIRST_NUMBER + k}
            for k, alert in enumerate(alert for alert in found if alert is not None)
        ]
        self._send(alerts)
        for alert in alerts if job.log is not None else ():
            assert job.log is not None
            job.log(
                "alert", alert["text"], level="warning", **{k: v for k, v in alert.items() if k != "text"}
            )

    def _crossed(self, name: str, share: float, n_rows: int) -> dict[str, Any] | None:
        limit = self.conditions.limits.get(name)
        if limit is None:
            return None
        if share <= CLEARED * limit:
            self.raised.discard(name)
        if share <= limit or name in self.raised:
            return None
        self.raised.add(name)
        text = f"{share:.1%} of the last {counted(n_rows, 'row')} were {name}, more than {100 * limit:g}%."
        return {"alert": name, "kind": name, "share": share, "limit": limit, "text": text}

    def _send(self, alerts: Sequence[dict[str, Any]]) -> None:
        if alerts:
            for sink in self.sinks:
                sink.write(alerts)

    def mark(self) -> Any:
        """Sync to the disk; the positions of the sinks, and what is known of the present window."""
        self.note.mark()
        return {
            "sinks": {sink.name: sink.mark() for sink in self.sinks},
            "window": self.window,
            "raised": sorted(self.raised),
        }

    def rewind(self, mark: Any) -> None:
        """Remove alerts after a mark, and go on from there."""
        if mark is None:
            mark = {"sinks": self._noted_start(), "window": None, "raised": []}
        else:
            self.note.forget()
        self.window, self.raised = mark["window"], set(mark["raised"])
        for sink in self.sinks:
            sink.rewind(mark["sinks"].get(sink.name, _length(sink)))

    def _noted_start(self) -> dict[str, int | None]:
        """Where the alerts of a new run begin: behind those of others.

        If a run was killed before its first checkpoint, they begin where its own did.
        """
        start, noted = {sink.name: _length(sink) for sink in self.sinks}, self.note.read()
        if isinstance(noted, dict):
            start = {name: min(length or 0, noted.get(name) or 0) or None for name, length in start.items()}
        self.note.write(start)
        return start

    def finish(self) -> None:
        """Close after the last alert; receivers that may not accept them come last."""
        for sink in sorted(self.sinks, key=lambda sink: isinstance(sink, QueuedEvents)):
            sink.finish()
        self.note.forget()

    def abort(self) -> None:
        """Close after an error."""
        for sink in self.sinks:
            sink.abort()


def _length(sink: EventSink) -> int | None:
    """Bytes of a file of alerts, which are kept when a run begins anew."""
    is_file = isinstance(sink, JsonLinesFile) and os.path.isfile(sink.name)
    return os.path.getsize(sink.name) if is_file else None


def _counts(job: Run) -> dict[str, int]:
    if job.keyed is not None:
        founded = job.keyed.n_founded
    else:
        founded = job.model._scalar("n_born") if job.n_seen else 0
    return {"read": job.rows, "skipped": job.skipped, "learnt": job.n_seen, "founded": int(founded)}
