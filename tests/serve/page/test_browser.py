"""The page in a browser, a headless Chromium, with a simulated sensor's samples coming in."""

import os

import browser as browsers
import numpy as np
import pytest
from browser import command, until
from simulated_node import node

from edgesvm.persist.store import restore

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
CURVE = "return document.querySelector('#accuracy-chart path.first')?.getAttribute('d')"
STATUS = "return fetch('status.json').then((answer) => answer.json())"

SNAPSHOT = """return fetch(document.querySelector('a[download]').href)
    .then((answer) => answer.arrayBuffer()).then((bytes) => [...new Uint8Array(bytes)])"""
MARKS = """return [[0.2, 4.3], [0, 4.3], [0.2, 4.3e9], [-1, 1e-9]]
    .map(([low, high]) => steps(low, high, 2).length)"""
SMALL_BUTTONS = """return [...document.querySelectorAll('button')]
    .filter((button) => button.offsetHeight && button.offsetHeight < 40).length"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browsers.require()
    one = browsers.Browser(tmp_path_factory.mktemp("browser"))
    yield one
    one.close()


def number(browser, name):
    return browser.run(STATUS)["counters"][name]


def test_the_page_loads_alone_and_its_curve_moves(browser, tmp_path):
    with node("--rate", "200") as port, command(tmp_path, "run", port) as url:
        browser.open(url)
        first = until(lambda: browser.run(CURVE))
        until(lambda: (now := browser.run(CURVE)) and now != first and "L" in now)
        until(lambda: browser.text("#state") == "live")
        assert "%" in browser.text("#accuracy")
        assert browser.run("return document.querySelectorAll('.bands path').length") > 0
        assert "larger class" in browser.text("#accuracy-legend")
        assert int(browser.text("#rate").replace(",", "")) > 0
        lost = browser.text("#lost")
        assert lost == "Nothing is missing." or "far outside" in lost  # of the simulated signal
        assert "#" not in browser.driver.current_url  # the token is not left in the address
        rows = "return document.querySelectorAll('#predictions tr').length"
        until(lambda: browser.run(rows) > 10 and "0" in browser.text("#confusion"))
        assert restore(bytes(browser.run(SNAPSHOT))).n_seen_ > 0
        asked = browser.requests()
        origin = url.partition("#")[0]
        assert len(asked) > 5
        assert [one for one in asked if not one.startswith((origin, "data:", "about:"))] == []
        assert browser.run(MARKS) == [2, 1, 2, 2]
        assert browser.errors() == []


def test_it_fits_a_phone_and_a_screen_in_light_and_dark(browser, tmp_path):
    with node("--rate", "100", "--faults", "noisy") as port, command(tmp_path, "run", port) as url:
        browser.open(url)
        until(lambda: browser.run(CURVE) and browser.text("#lost") != "Nothing is missing.")
        grounds, columns = set(), {}
        for width, height in ((320, 640), (390, 844), (1280, 900)):
            for scheme in ("light", "dark"):
                browser.size(width, height, scheme)
                wide = browser.run("return document.documentElement.scrollWidth")
                assert wide <= width, (width, scheme)
                assert browser.run("return document.body.scrollHeight") <= 1688 or width == 320
                style = "getComputedStyle(document.body)"
                grounds.add(browser.run(f"return {style}.backgroundColor + {style}.color"))
                tracks = (
                    "return getComputedStyle(document.querySelector('main')).gridTemplateColumns"
                )
                columns[width] = len(browser.run(tracks).split())
                assert browser.run(SMALL_BUTTONS) == 0
        assert len(grounds) == 2 and columns == {320: 1, 390: 1, 1280: 2}
        browser.size(1280, 900)
        assert browser.errors() == []


def test_from_port_to_port_with_one_token(browser, tmp_path):
    with (
        node("--rate", "100") as first,
        node("--rate", "100", "--labels", "none") as second,
        command(tmp_path, "run", first, second, "--learner", "stream") as url,
    ):
        browser.open(url)
        until(lambda: browser.text("#state") == "live" and first in browser.text("#port"))
        browser.run("document.querySelectorAll('nav a')[1].click()")
        until(lambda: browser.text("#state") == "live" and second in browser.text("#port"))
        browser.run("$('span').value = '60'; $('label').value = 1")
        browser.run("$('other').requestSubmit()")
        until(lambda: number(browser, "taught") > 0)
        assert browser.errors() == []


def test_a_label_teaches_and_a_wrong_token_does_not(browser, tmp_path):
    with (
        node("--rate", "100", "--labels", "none") as port,
        command(tmp_path, "run", port, "--learner", "stream") as url,
    ):
        browser.open(url.partition("#")[0] + "#wrong-token-wrong-token")
        until(lambda: browser.text("#samples"))
        browser.fill("#label", 0)
        browser.click("#other button")
        until(lambda: "token is missing or wrong" in browser.text("#answer"))
        assert number(browser, "learned") == 0
        assert browser.run("return document.querySelector('#token-form').offsetHeight") > 0
        browser.click("#other button")
        until(lambda: "needs the token" in browser.text("#answer"))
        assert number(browser, "learned") == 0

        browser.fill("#token", url.partition("#")[2])
        browser.click("#token-form button")
        browser.fill("#span", 0)
        browser.click("#other button")
        until(lambda: browser.text("#answer") == "1 row learned as 0.", browser.text("#answer"))
        until(lambda: number(browser, "learned") == number(browser, "taught") == 1)
        browser.fill("#span", 1)
        browser.fill("#label", 1)
        browser.click("#other button")
        until(lambda: "learned as 1" in browser.text("#answer"))
        told = int(browser.text("#answer").split()[0])
        until(lambda: number(browser, "learned") > 1)
        until(
            lambda: browser.run("return document.querySelectorAll('#classes button').length") == 2
        )
        until(lambda: number(browser, "taught") == told + 1)
        before = number(browser, "learned")
        browser.fill("#span", 0)
        browser.click("#classes button[data-label='0']")
        until(lambda: browser.text("#answer") == "1 row learned as 0.")
        until(lambda: number(browser, "learned") == before + 1)
        until(lambda: "with a label given here" in browser.text("#samples"))
        browser.fill("#span", "stopped")
        browser.click("#classes button[data-label='1']")
        until(lambda: "are learned as 1" in browser.text("#stop"))
        browser.click("#stop")
        until(lambda: browser.text("#answer") == "Stopped.")
        until(lambda: "predicted" in browser.text("#confusion"))
        refused = [line for line in browser.errors() if "401" not in line]
        assert refused == []  # Chromium notes a 401 on the console, and nothing else is there


def test_a_watch_shows_its_threshold_and_what_stood_out_in_an_alarm(browser, tmp_path):
    X = np.random.default_rng(0).standard_normal((4000, 3)).astype(np.float32)
    X[2000:, 1] += 40
    np.savez(tmp_path / "worn.npz", X=X, y=np.zeros(len(X), np.int32))
    sensor = ("--replay", str(tmp_path / "worn.npz"), "--rate", "250", "--labels", "none")
    learning = ("--learn", "600", "--alarm-rate", "1/day")
    with node(*sensor) as port, command(tmp_path, "watch", port, *learning) as url:
        browser.open(url)
        until(lambda: browser.text("#phase").startswith(("Learning", "Watching", "Alarm")))
        assert browser.run("return document.querySelector('#classes').offsetHeight") == 0
        until(lambda: "x1" in browser.text("#alarms"))
        assert "threshold" in browser.text("#watch-legend")
        drawn = "return document.querySelectorAll('#watch-chart path').length"
        assert browser.run(drawn) == 2 and browser.errors() == []


def test_a_port_that_is_gone_is_told(browser, tmp_path):
    with node("--rate", "100") as port:
        with command(tmp_path, "run", port) as url:
            browser.open(url)
            until(lambda: browser.text("#state") == "live")
        until(lambda: browser.text("#state").startswith("no answer"))
    assert len(browser.errors()) > 0  # that nobody answers


def test_a_look_shows_channels_and_spectrum_and_a_command(browser, tmp_path):
    raw = ("--rate", "1000", "--raw", "--signal-rate", "1000")
    with node(*raw) as port, command(tmp_path, "look", port) as url:
        browser.open(url)
        drawn = (
            "return document.querySelectorAll('#channels path.first, #spectrum-chart path').length"
        )
        n = len(browser.run(STATUS).get("channels", [])) or 2
        until(lambda: browser.run(drawn) == n + 1)
        until(lambda: "--window" in browser.text("#options"))
        for other in ("#teach", "#predictions", "#rate-chart"):
            assert not browser.run(
                "return document.querySelector(arguments[0]).offsetHeight", other
            )
        for width, scheme in ((1280, "light"), (390, "dark")):
            browser.size(width, 900, scheme)
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.errors() == []
