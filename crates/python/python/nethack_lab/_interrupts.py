"""Interrupts put off while two processes are half way through telling each other something."""

import signal
import threading


class PutOff:
    """Within it an interrupt (SIGINT) waits until the end; what was begun is then whole."""

    def __enter__(self):
        self._came, self._before = None, None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number, frame):
        self._came = (number, frame)

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._came is not None:
                self._before(*self._came)
