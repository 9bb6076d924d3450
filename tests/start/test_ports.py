"""A port that a stranger has is left to them."""

import socket

import pytest

from scripts.embedded.ports import NoPort, is_free, next_free


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        taken = stranger.getsockname()[1]
        assert not is_free("127.0.0.1", taken)
        assert next_free("127.0.0.1", taken) > taken


def test_a_port_whose_connections_are_still_closing_is_free() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # Who closes first is left waiting in TIME_WAIT.
        client.close()
    assert is_free("127.0.0.1", port)


def test_an_address_of_another_machine_is_named_in_the_error() -> None:
    with pytest.raises(NoPort, match=r"192\.0\.2\.1"):
        is_free("192.0.2.1", 8000)
