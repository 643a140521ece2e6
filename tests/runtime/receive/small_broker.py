"""A broker of MQTT 3.1.1 for tests: sessions that stay, QoS 0 and 1, retained messages.

What is not acknowledged is sent again, with the same number, when its client is back.
"""

import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field


def _matches(filter_: str, topic: str) -> bool:
    wanted, levels = filter_.split("/"), topic.split("/")
    for place, one in enumerate(wanted):
        if one == "#":
            return True
        if place >= len(levels) or one not in ("+", levels[place]):
            return False
    return len(wanted) == len(levels)


def _text(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = struct.unpack_from("!H", data, at)
    return data[at + 2 : at + 2 + size], at + 2 + size


def _packet(kind: int, body: bytes) -> bytes:
    size, head = len(body), bytearray([kind])
    while True:
        size, digit = size // 128, size % 128
        head.append(digit | (128 if size else 0))
        if not size:
            return bytes(head) + body


@dataclass
class Session:
    """What a broker keeps of a client; `sent`: by number, what is not acknowledged."""

    granted: dict[str, int] = field(default_factory=dict)
    waiting: deque[tuple[str, bytes, int, bool]] = field(default_factory=deque)
    sent: dict[int, tuple[str, bytes, bool]] = field(default_factory=dict)
    link: socket.socket | None = None
    acknowledged: list[bytes] = field(default_factory=list)
    number: int = 0


class Broker:
    """`refuse`: the code with which connections are answered; `grant`: that of subscriptions;
    `in_flight`: how many messages may be unacknowledged; `taken`: topic, content, QoS and
    whether it is retained, of messages that clients have sent; `breaks`: after so many of these in
    all a connection breaks off."""

    def __init__(self, port: int = 0, *, refuse: int = 0, grant: int = 1, in_flight: int = 20):
        self.refuse, self.grant, self.in_flight = refuse, grant, in_flight
        self.sessions: dict[str, Session] = {}
        self.retained: dict[str, bytes] = {}
        self.passwords: list[bytes] = []
        self.taken: list[tuple[str, bytes, int, bool]] = []
        self.breaks: list[int] = []
        self.changed = threading.RLock()
        self.server = socket.create_server(("127.0.0.1", port))
        self.port: int = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def publish(self, topic: str, payload: bytes, *, qos: int = 1, retain: bool = False) -> None:
        """Send a message to all who have subscribed to it."""
        with self.changed:
            if retain:
                self.retained[topic] = payload
            for session in self.sessions.values():
                if any(_matches(one, topic) for one in session.granted):
                    self._queue(session, topic, payload, qos, False)

    @property
    def session(self) -> Session:
        """That of the only client."""
        (one,) = self.sessions.values()
        return one

    @property
    def subscribed(self) -> bool:
        """Whether the only client is there, and has subscribed."""
        return any(s.granted and s.link is not None for s in self.sessions.values())

    @property
    def done(self) -> bool:
        """Whether everything was acknowledged."""
        return all(not s.sent and not s.waiting for s in self.sessions.values())

    def drop(self, *, forget: bool = False) -> None:
        """Cut all connections; with `forget`, as a broker that starts again without its state."""
        with self.changed:
            for session in self.sessions.values():
                self._cut(session)
            if forget:
                self.sessions.clear()

    def close(self) -> None:
        """End it."""
        self.drop()
        if self.server.fileno() >= 0:
            self.server.shutdown(socket.SHUT_RDWR)  # ends accept in its thread
        self.server.close()

    def _cut(self, session: Session) -> None:
        if session.link is not None:
            with suppress(OSError):  # its client has just gone by itself
                session.link.shutdown(socket.SHUT_RDWR)
            session.link = None

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        session = None
        try:
            with link, link.makefile("rb") as stream:
                while head := stream.read(1):
                    size = shift = 0
                    while True:
                        (digit,) = stream.read(1)
                        size, shift = size | (digit & 127) << shift, shift + 7
                        if digit < 128:
                            break
                    body = stream.read(size)
                    with self.changed:
                        session = self._answer(link, session, head[0], body)
        except (OSError, ValueError):
            pass
        with self.changed:
            if session is not None and session.link is link:
                session.link = None

    def _answer(
        self, link: socket.socket, session: Session | None, head: int, body: bytes
    ) -> Session | None:
        kind = head >> 4
        if kind == 1:  # CONNECT
            flags = body[7]
            name, at = _text(body, 10)
            if flags & 64:
                _, at = _text(body, at)
                self.passwords.append(_text(body, at)[0])
            known = name.decode() in self.sessions and not self.refuse
            link.sendall(_packet(0x20, bytes([known, self.refuse])))
            if self.refuse:
                return None
            session = self.sessions.setdefault(name.decode(), Session())
            session.link = link
            for number, (topic, payload, retain) in session.sent.items():
                self._send(session, topic, payload, number, 0x3A | retain)  # again: DUP
            self._flush(session)
        elif session is None:
            raise ValueError("it has not connected")
        elif kind == 8:  # SUBSCRIBE
            name, _ = _text(body, 2)
            link.sendall(_packet(0x90, body[:2] + bytes([self.grant])))
            if self.grant < 3:
                session.granted[name.decode()] = self.grant
                for topic, payload in self.retained.items():
                    if _matches(name.decode(), topic):
                        self._queue(session, topic, payload, 1, True)
        elif kind == 4:  # PUBACK
            (number,) = struct.unpack("!H", body)
            found = session.sent.pop(number, None)
            if found is not None:
                session.acknowledged.append(found[1])
            self._flush(session)
        elif kind == 3:  # PUBLISH
            self._take(link, head, body)
        elif kind == 12:  # PINGREQ
            link.sendall(_packet(0xD0, b""))
        return session

    def _take(self, link: socket.socket, head: int, body: bytes) -> None:
        """A message of a client; where connections break off, it is taken, and not acknowledged."""
        qos, retain = head >> 1 & 3, bool(head & 1)
        named, at = _text(body, 0)
        content = body[at + 2 * bool(qos) :]
        self.taken.append((named.decode(), content, qos, retain))
        if retain and content:
            self.retained[named.decode()] = content
        elif retain:
            self.retained.pop(named.decode(), None)
        if self.breaks and len(self.taken) >= self.breaks[0]:
            self.breaks.pop(0)
            link.shutdown(socket.SHUT_RDWR)
        elif qos:
            link.sendall(_packet(0x40, body[at : at + 2]))

    def _queue(self, session: Session, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        session.waiting.append((topic, payload, qos, retain))
        self._flush(session)

    def _flush(self, session: Session) -> None:
        while session.link is not None and session.waiting and len(session.sent) < self.in_flight:
            topic, payload, qos, retain = session.waiting.popleft()
            number = 0
            if qos:
                session.number = number = session.number % 65_535 + 1
                session.sent[number] = topic, payload, retain
            self._send(session, topic, payload, number, 0x30 | qos << 1 | retain)

    def _send(self, session: Session, topic: str, payload: bytes, number: int, kind: int) -> None:
        named = topic.encode()
        body = struct.pack("!H", len(named)) + named
        body += struct.pack("!H", number) if number else b""
        assert session.link is not None
        try:
            session.link.sendall(_packet(kind, body + payload))
        except OSError:  # it is gone: what is not acknowledged is sent again
            session.link = None
