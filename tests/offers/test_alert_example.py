"""The example of price alerts sends its e-mails to a mail server of this machine."""

import re
import socketserver
import threading

import pytest

from examples import price_alerts
from ferry_sdk import Ferry, offers
from tests.support.routes import know_routes
from tests.support.trip import DAY

ADULT = [{"type": "Adult", "gender": "Female", "age": 34}]


class MailHandler(socketserver.StreamRequestHandler):
    """Speaks as much SMTP as `smtplib` needs."""

    def handle(self):
        self._say("220 here")
        while (line := self.rfile.readline().decode().strip().upper()) != "QUIT":
            if line == "DATA":
                self._say("354 go on")
                lines = iter(lambda: self.rfile.readline().decode().rstrip(), ".")
                self.server.messages.append("\n".join(lines))
            self._say("250 well")
        self._say("221 bye")

    def _say(self, reply):
        self.wfile.write(f"{reply}\r\n".encode())


@pytest.fixture
def mails(monkeypatch):
    """The messages that a mail server of this machine has received."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailHandler) as server:
        server.messages = []
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("SMTP_PORT", str(server.server_address[1]))
        yield server.messages
        server.shutdown()
        thread.join()


class MailedError(Exception):
    """Ends the watch: an e-mail was delivered."""


def send_and_stop(message):
    """Deliver an e-mail, so that the test waits no longer than it takes."""
    price_alerts.send(message)
    raise MailedError


@pytest.fixture
def watch(ferry_sandbox, journal):
    """Watch a wish until an e-mail was delivered."""
    know_routes(ferry_sandbox)
    rules = [offers.Below("900", "EUR")]
    wish = offers.Wish(
        "Tarifa",
        "MATNG",
        days=(DAY, DAY),
        passengers=ADULT,
        companies=["FRSIBERIA"],
        rules=rules,
    )
    offers.add(journal, wish, key="tarifa")

    def watch():
        with (
            Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
            pytest.raises(MailedError),
        ):
            price_alerts.watch(ferry, journal, send_and_stop, deadline=120)

    return watch


def test_event_is_mailed(watch, mails):
    watch()
    (message,) = mails
    assert re.search(r"^Subject: tarifa: below, [0-9.]+ EUR$", message, re.MULTILINE)
    assert "Tarifa to Tangier" in message


def test_message_has_the_id_of_the_event(watch, mails, journal):
    watch()
    (message,) = mails
    assert re.search(r"^Message-ID: <[0-9a-f]{32}@", message, re.MULTILINE)
