"""A TCP connection, line by line, with a deadline for every line."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

from tacit.errors import TacitError

MAX_LINE = 4_096
"""Bytes of the longest line; hands of hold'em need a few hundred."""


class LostError(TacitError):
    """The other side is gone, silent for too long, or sends what is no text in lines."""


class Lines:
    """The near end of a connection. Lines end in CRLF when sent; when read, LF alone will do.

    Attributes:
      peer: who is at the other end, for messages.
    """

    def __init__(self, connection: socket.socket, peer: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # lines are short, and somebody waits for each
        self._connection, self.peer = connection, peer
        self._buffer = b""

    def send(self, text: str, seconds: float) -> None:
        """Sends a line.

        Raises:
          LostError: the other side is gone, or reads nothing for so long.
        """
        try:
            self._connection.settimeout(seconds)
            self._connection.sendall(text.encode("ascii", "replace") + b"\r\n")
        except OSError as error:
            raise LostError(f"{self.peer} left: {error.strerror or error}") from None

    def receive(self, seconds: float) -> str:
        """Returns the next line without its end; it must be there, whole, within that time.

        Raises:
          LostError: it was not.
        """
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            if len(self._buffer) > MAX_LINE:
                raise LostError(f"{self.peer} sent a line of more than {MAX_LINE:,} bytes")
            left = deadline - time.monotonic()
            if left <= 0:
                raise SilentError(f"{self.peer} was silent for {seconds:.3g} s")
            try:
                self._connection.settimeout(left)
                received = self._connection.recv(MAX_LINE)
            except TimeoutError:
                continue
            except OSError as error:
                raise LostError(f"{self.peer} left: {error.strerror or error}") from None
            if not received:
                raise EndError(f"{self.peer} closed the connection")
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.rstrip(b"\r").decode("ascii", "replace")

    def close(self, linger: float = 1.0) -> None:
        """Hangs up; what was sent still arrives.

        Closing with unread bytes would reset the connection and take back what the other side has not read yet, so these are
        read first, until the other side hangs up as well or has been silent for `linger` seconds.
        """
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self._connection.settimeout(linger)
            for _ in range(16):
                if not self._connection.recv(MAX_LINE):
                    break
        self._connection.close()


class SilentError(LostError):
    """The other side said nothing for too long."""


class EndError(LostError):
    """The other side closed the connection, as it does when a match is over."""
