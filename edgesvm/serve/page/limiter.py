"""How many requests a second a client may make, in a bounded table."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Hashable

MOST_CLIENTS = 1024
LEAST_S = 1e-6  # a shorter wait is none


class Limiter:
    """Up to `burst` requests at once, and `rate` a second from then on, for each client.

    Of the clients that asked last `MOST_CLIENTS` are known; others begin anew.

    Parameters
    ----------
    rate, burst : float, int
    clock : callable
        Monotonic clock, in seconds.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._period, self._slack = 1.0 / rate, (burst - 1) / rate
        self._clock = clock
        self._due: dict[Hashable, float] = {}  # when all requests so far are paid for

    def wait(self, client: Hashable = None) -> float:
        """Count a request: 0 if it may be made, or else the seconds until the next one may."""
        now = self._clock()
        due = max(now, self._due.pop(client, now))
        early = due - now - self._slack
        if early < LEAST_S:
            early, due = 0.0, due + self._period
        self._due[client] = due  # the newest is the last
        if len(self._due) > MOST_CLIENTS:
            del self._due[next(iter(self._due))]
        return early


def client_of(address: str) -> Hashable:
    """Who has an address: in IPv6 a client has a whole network of 2^64 of them."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 4:
        return ip.packed
    return ip.ipv4_mapped.packed if ip.ipv4_mapped is not None else ip.packed[:8]
