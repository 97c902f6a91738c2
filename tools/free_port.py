"""Prints the first free port of 127.0.0.1 at or after the one given."""

import socket
import sys


def find_free_port(first: int) -> int:
    """The lowest port from ``first`` on that nobody listens on.

    Raises:
        OSError: the hundred ports from ``first`` on are all taken.

    Example:
        >>> find_free_port(6006) >= 6006
        True
    """
    for port in range(first, first + 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise OSError(f"The ports {first} to {first + 99} are all taken. Name another: make demo PORT=7000.")


if __name__ == "__main__":
    print(find_free_port(int(sys.argv[1])))
