"""The socket between a vector environment and its workers: one byte says what comes, then a length and a pickle."""

import pickle
import struct

_LENGTH = struct.Struct("<Q")


class Closed(Exception):
    """The other side is gone."""


def send(sock, tag, content=None):
    """Sends a tag, with what belongs to it."""
    body = b"" if content is None else pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    try:
        sock.sendall(tag + (_LENGTH.pack(len(body)) + body if tag.isupper() else b""))
    except (BrokenPipeError, ConnectionResetError):
        raise Closed from None


def exactly(sock, count):
    """So many bytes."""
    parts = bytearray()
    while len(parts) < count:
        try:
            part = sock.recv(min(count - len(parts), 1 << 20))
        except BlockingIOError:
            continue
        except ConnectionResetError:
            raise Closed from None
        if not part:
            raise Closed
        parts += part
    return bytes(parts)


def content(sock):
    """What belongs to an upper-case tag, which has been read."""
    return pickle.loads(exactly(sock, _LENGTH.unpack(exactly(sock, _LENGTH.size))[0]))
