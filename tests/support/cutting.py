"""A TCP proxy that does harm to order: it refuses, cuts, swallows, holds back, slows, and notes."""

import socket
import threading

from .cutting_harms import Order, Passage
from .cutting_links import Link

HOST = "127.0.0.1"


class Door:
    """The listening socket of a port that is found free; nobody listens before `open`."""

    def __init__(self):
        self._holder = _bound(0)
        self.port = self._holder.getsockname()[1]
        self._listener = None
        self._caller = None

    def open(self):
        self.shut()
        self._listener = _bound(self.port)
        self._listener.listen(64)
        return self._listener

    def shut(self):
        """Do not listen: attempts to connect are refused."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # close alone does not wake who accepts
            self._listener.close()
        if self._caller is not None:
            self._caller.close()
        self._listener = self._caller = None

    def jam(self):
        """Listen with a queue that is full: attempts to connect get no answer at all."""
        self.shut()
        self._listener = _bound(self.port)
        self._listener.listen(0)
        self._caller = socket.socket()
        self._caller.setblocking(False)  # another caller may have been faster
        self._caller.connect_ex((HOST, self.port))

    def close(self):
        self.shut()
        self._holder.close()


def _bound(port):
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((HOST, port))
    return bound


class CuttingProxy:
    """The proxy, for `with` blocks; what no order harms passes untouched."""

    def __init__(self, port):
        self._service = (HOST, port)
        self._door = Door()
        self._changed = threading.Condition()
        self._orders = []
        self._passages = []
        self._links = set()
        self._accepted = 0
        self._era = 0

    @property
    def base_url(self):
        return f"http://{HOST}:{self._door.port}"

    @property
    def passages(self):
        with self._changed:
            return tuple(self._passages)

    @property
    def accepted(self):
        with self._changed:
            return self._accepted

    def order(self, harm):
        """Order a harm. Of several for one request the earliest ordered comes to pass."""
        with self._changed:
            if harm.phase == "door" and not harm.after:
                self._shut(harm)
            else:
                self._orders.append(Order(harm))

    def clear(self):
        self._drop()
        self._listen()

    def forget(self):
        self.clear()
        with self._changed:
            self._passages.clear()
            self._accepted = 0

    def settle(self, seconds=10.0):
        """Wait until no request is on its way any more; whether that came about in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: all(passage.is_over for passage in self._passages), seconds
            )

    def __enter__(self):
        self._listen()
        return self

    def __exit__(self, *_):
        self._drop()
        self._door.close()

    def begun(self):
        """Note a request that begins, and the harm that it meets."""
        with self._changed:
            passage = Passage(harm=self._due("request"))
            self._passages.append(passage)
            door = self._due("door")
            if door is not None:
                self._shut(door)
            return passage

    def stray(self, request):
        """Note bytes that came when nobody would pass them on any more."""
        with self._changed:
            self._passages.append(Passage(request, is_over=True))

    def over(self, passage):
        """Note that a request has come as far as it will."""
        with self._changed:
            passage.is_over = True
            self._changed.notify_all()

    def left(self, link):
        with self._changed:
            self._links.discard(link)
            self._changed.notify_all()

    def pause(self, seconds):
        """Wait so long; False if everything was cleared meanwhile."""
        with self._changed:
            era = self._era
            return not self._changed.wait_for(lambda: self._era != era, seconds)

    def _due(self, phase):
        due = [order for order in self._orders if order.harm.phase == phase and order.is_due()]
        return due[0].taken() if due else None

    def _listen(self):
        with self._changed:
            listener = self._door.open()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with self._changed:
                self._accepted += 1
                link = Link(self, client, self._service, self._due("connection"))
                self._links.add(link)
                link.start()

    def _shut(self, harm):
        if harm.kind == "refuse":
            self._door.shut()
        else:
            self._door.jam()
        for link in self._links:
            link.end_soon()
        if harm.seconds:
            threading.Thread(target=self._reopen, args=(harm.seconds,), daemon=True).start()

    def _reopen(self, seconds):
        if self.pause(seconds):
            self._listen()

    def _drop(self):
        with self._changed:
            self._orders.clear()
            self._era += 1
            self._changed.notify_all()
            self._door.shut()
            links = tuple(self._links)
        for link in links:
            link.drop()
        for link in links:
            link.join()
