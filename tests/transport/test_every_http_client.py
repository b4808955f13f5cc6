"""The promises of the transport, each over every kind of HTTP client: what is read."""


def test_every_kind_reads_a_reply(ferry_over, ferry_sandbox):
    ferry = ferry_over(ferry_sandbox.base_url, ferry_sandbox.token)
    assert len(ferry.catalogue.ports()) > 100
