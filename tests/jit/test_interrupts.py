"""Signals wait for the end of a block."""

import os
import signal
import threading

import pytest

from everclust.jit.interrupts import uninterrupted


def press():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):  # the handler runs between two instructions
        pass


def block(reached):
    with uninterrupted():
        press()
        reached.append("the end")


def test_ctrl_c_comes_after_the_block():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        block(reached)
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks():
    def around():
        with uninterrupted():
            block(reached)
            reached.append("the end of both")

    reached = []
    with pytest.raises(KeyboardInterrupt):
        around()
    assert reached == ["the end", "the end of both"]


def test_an_error_does_not_lose_the_signal():
    def fail():
        with uninterrupted():
            press()
            raise ValueError("of the block")

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert isinstance(caught.value.__context__, ValueError)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_handlers_of_others_are_asked_as_ever(number):
    seen = []
    before = signal.signal(number, lambda number, frame: seen.append((number, frame is not None)))
    try:
        with uninterrupted():
            os.kill(os.getpid(), number)
            assert seen == []
        assert seen == [(number, True)]
    finally:
        signal.signal(number, before)


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            press()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_handle_no_signals():
    def work():
        before = signal.getsignal(signal.SIGINT)
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT) is before)

    found = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
