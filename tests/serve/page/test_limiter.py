"""How often a client may ask, by a clock that is turned by hand."""

import ipaddress

from fake_port import Clock

from edgesvm.serve.page.limiter import MOST_CLIENTS, Limiter, client_of


def test_a_burst_then_the_rate_and_each_client_for_itself():
    clock = Clock()
    limiter = Limiter(2.0, 3, clock)
    assert [limiter.wait("a") for _ in range(5)] == [0, 0, 0, 0.5, 0.5]
    assert limiter.wait("b") == 0
    clock.now += 0.25
    assert limiter.wait("a") == 0.25
    clock.now += 0.25
    assert [limiter.wait("a") for _ in range(2)] == [0, 0.5]
    clock.now += 1e6  # what is saved up is one burst
    assert [limiter.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_over_any_time_no_more_than_the_rate_and_a_burst():
    clock, passed = Clock(), 0
    limiter = Limiter(10.0, 20, clock)
    for _ in range(10_000):
        passed += limiter.wait("a") == 0
        clock.now += 0.01
    assert 1000 <= passed <= 1020


def test_the_table_of_clients_is_bounded_and_keeps_the_newest():
    limiter = Limiter(1.0, 1, Clock())
    for n in range(10 * MOST_CLIENTS):
        assert limiter.wait(n) == 0
    assert limiter.wait(10 * MOST_CLIENTS - 1) > 0 and limiter.wait(9 * MOST_CLIENTS) > 0
    assert limiter.wait(0) == 0


def test_a_client_is_an_address_or_a_network_of_version_6():
    assert client_of("10.0.0.1") == client_of("::ffff:10.0.0.1") != client_of("10.0.0.2")
    assert client_of("fe80::1%eth0") == client_of("fe80::2") != client_of("fe80:0:0:1::1")
    assert client_of("::1") == ipaddress.ip_address("::").packed[:8]
