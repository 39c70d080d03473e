"""A channel between trusted processes of ours: it carries Python objects, and now and then a descriptor."""

import os
import socket
from multiprocessing.connection import Connection
from typing import Any, Self


class Line:
    """One end. Whoever hears a closed line gets EOFError, whoever speaks into one OSError."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._objects: Connection[Any, Any] = Connection(os.dup(end.fileno()))

    @classmethod
    def pair(cls) -> tuple[Self, socket.socket]:
        """An end to use here and one to give away."""
        ours, theirs = socket.socketpair()
        return cls(ours), theirs

    def fileno(self) -> int:
        """For `multiprocessing.connection.wait`."""
        return self._end.fileno()

    def send(self, thing: Any) -> None:
        """Send an object that can be pickled."""
        self._objects.send(thing)

    def receive(self) -> Any:
        """The next object."""
        return self._objects.recv()

    def send_descriptor(self, descriptor: int) -> None:
        """Give another process a descriptor of this one's."""
        socket.send_fds(self._end, [b"d"], [descriptor])

    def receive_descriptor(self) -> int:
        """A descriptor from the other end."""
        _, descriptors, _, _ = socket.recv_fds(self._end, 1, 1)
        if not descriptors:
            raise EOFError
        return descriptors[0]

    def close(self) -> None:
        """Hang up."""
        self._objects.close()
        self._end.close()
