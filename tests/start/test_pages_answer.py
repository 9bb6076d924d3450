"""Whether the web process answers: something else that got the port is no answer, and no fault of ours either."""

from __future__ import annotations

import socket
import threading

import pytest

from scripts.embedded.__main__ import pages_answer


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        (b"J\x00\x00\x00\n8.0.33\x00", False),  # how a MySQL server greets
        (b"", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", False),
    ],
)
def test_only_http_that_is_no_failure_is_an_answer(said: bytes, answers: bool) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)

        def greet() -> None:
            peer, _ = listening.accept()
            with peer:
                peer.sendall(said)
                peer.settimeout(2)
                if said.startswith(b"HTTP"):
                    peer.recv(1000)

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        assert pages_answer(f"http://127.0.0.1:{listening.getsockname()[1]}") is answers
        thread.join(5)


def test_a_port_that_nobody_listens_on_is_no_answer() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert pages_answer(f"http://127.0.0.1:{port}") is False
