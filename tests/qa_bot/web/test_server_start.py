"""What keeps a service from listening: ports, addresses, tokens, a damaged home."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest

from qa_bot.home.config import ConfigError
from qa_bot.web.server import ServeError, running


def serve_fails(qa_bot, *flags: object) -> str:
    done = qa_bot("serve", *flags)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    return done.err


def test_a_port_in_use(qa_bot) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}, but got: the port is in use" in serve_fails(qa_bot, "--port", port)


def test_a_liveqa_port_in_use(qa_bot) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "the port is in use" in serve_fails(qa_bot, "--port", 0, "--liveqa-port", port)


def test_a_port_without_the_right_to_it(monkeypatch, bot) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socket.socket.bind", refuse)

    async def start() -> None:
        async with running(bot, replace(bot.config.serve, port=80)):
            pass

    with pytest.raises(ServeError, match=r"127\.0\.0\.1:80, but got: no right to that port"):
        asyncio.run(start())


@pytest.mark.parametrize(
    ("flags", "result"),
    [
        (("--host", "no such host"), "Expected the name or address of this machine"),
        (("--host", "192.0.2.1", "--port", "0"), "Expected a token before listening on 192.0.2.1"),
        (("--host", "0.0.0.0", "--port", "0"), "Expected a token before listening on 0.0.0.0"),
        (("--port", "70000"), "0 to 65535"),
    ],
)
def test_an_address_that_will_not_do(qa_bot, flags, result) -> None:
    assert result in serve_fails(qa_bot, *flags)


def test_a_known_host_that_is_a_url(qa_bot, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_SERVE__HOSTS", "https://qa.example.com")
    assert "Expected host names such as qa.example.com" in serve_fails(qa_bot, "--port", "0")


def test_an_address_of_another_machine(qa_bot, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_TOKEN", "secret")
    assert "this machine has no such address" in serve_fails(qa_bot, "--host", "192.0.2.1", "--port", "0")


def test_a_token_that_others_could_read(qa_bot, home) -> None:
    (home / "token").write_text("secret")
    (home / "token").chmod(0o644)
    assert f"chmod 600 {home / 'token'}" in serve_fails(qa_bot, "--port", "0")


def test_a_damaged_home(qa_bot, home) -> None:
    for file in (home / "index").rglob("manifest.json"):
        file.write_text("{")
    assert "qa-bot repair" in serve_fails(qa_bot, "--port", "0")


def test_a_failed_start_leaves_no_port_behind(bot) -> None:
    """The first port is free again if the second cannot be opened."""
    with socket.socket() as taken, socket.socket() as probe:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        settings = replace(bot.config.serve, port=port, liveqa_port=taken.getsockname()[1])

        async def start() -> None:
            async with running(bot, settings):
                pass

        with pytest.raises(ServeError):
            asyncio.run(start())
        with socket.socket() as again:
            again.bind(("127.0.0.1", port))


def test_a_token_in_the_home_opens_the_service(home, serve, bot) -> None:
    (home / "token").write_text("from-file")
    (home / "token").chmod(0o600)
    service = serve(bot, warm=False)
    assert service.get("/metrics").status == 401
    assert service.get("/metrics", headers={"X-API-Key": "from-file"}).status == 200
    (home / "token").chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        serve(bot)
