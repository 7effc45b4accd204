"""A TCP connection, line by line, with a deadline for every line."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

from tacit.errors import TacitError

MAX_LINE = 4_096
"""The largest length of a line in bytes; hands of hold'em need a few hundred."""


class LostError(TacitError):
    """The other side is gone, was silent for too long, or sent something other than lines of text."""


class Lines:
    """Our end of a connection. Lines are sent with CRLF; when reading, LF alone will do.

    Attributes:
      peer: the name of the other side, for messages.
    """

    def __init__(self, connection: socket.socket, peer: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # lines are short, and the other side waits for each
        self._connection, self.peer = connection, peer
        self._buffer = b""

    def send(self, text: str, seconds: float) -> None:
        """Sends a line.

        Raises:
          LostError: the other side is gone, or has read nothing within that time.
        """
        try:
            self._connection.settimeout(seconds)
            self._connection.sendall(text.encode("ascii", "replace") + b"\r\n")
        except OSError as error:
            raise LostError(f"{self.peer} left: {error.strerror or error}") from None

    def receive(self, seconds: float) -> str:
        """Returns the next line without its end; it must arrive in full within that time.

        Raises:
          LostError: it did not.
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
        """Closes the connection; data already sent still arrives.

        Closing with unread bytes would reset the connection and discard data that the other side has not read yet. So these
        bytes are read first, until the other side closes as well or has been silent for `linger` seconds.
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
