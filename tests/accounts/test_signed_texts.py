"""What the tokens of a site sign: each text names its purpose and all that the token is for."""

import pytest

from resolvers.process.tokens import Tokens
from store.secret import Secret
from store.settings import Settings
from tests.support.people import SECRET


@pytest.fixture
def tokens(settings: Settings) -> Tokens:
    """The tokens of a site."""
    return Tokens(settings, SECRET)


def test_signed_texts(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each signature is of its purpose and of each value. Another text would end all tokens that are in use."""
    monkeypatch.setattr(tokens, "_signature", lambda text: f"[{text}]")
    refresh = Secret("7.session.random[signature]")
    assert tokens.next_refresh_token(refresh).reveal() == (
        "7.session.[next refresh token:7.session.random[signature]]"
        "[refresh token:7.session.[next refresh token:7.session.random[signature]]]"
    )
    assert tokens.device_token(7, "session").reveal() == "7.session.[device token:7.session]"
    assert tokens.mail_token("reset", 7, "nonce").reveal() == "7.[mail token:reset 7 nonce]"
    assert tokens.upload_token(7).reveal() == "[upload:7]"
    assert tokens.address_digest(7, "192.0.2.1") == "[address:7 192.0.2.1]"


def test_refresh_tokens(tokens: Tokens) -> None:
    """A refresh token is issued for its member and session alone, and each first one is another."""
    first = tokens.first_refresh_token(7, "session12345")
    assert first != tokens.first_refresh_token(7, "session12345")
    for token in (first, tokens.next_refresh_token(first)):
        claims = tokens.read_refresh_token(token)
        assert claims
        assert (claims.member, claims.session, claims.is_issued) == (7, "session12345", True)
        for other in (f"8{token.reveal()[1:]}", token.reveal().replace("session12345", "session12346")):
            forged = tokens.read_refresh_token(Secret(other))
            assert forged
            assert not forged.is_issued


def test_device_tokens(tokens: Tokens) -> None:
    """A device token is of one member, and names the session that it was given to."""
    token = tokens.device_token(7, "session12345")
    assert tokens.device(token, 7) == "session12345"
    assert tokens.device(token, 8) is None
    for forged in ("", "7", "7.session12345", f"{token.reveal()}x", token.reveal().replace("12345", "12346")):
        assert tokens.device(Secret(forged), 7) is None
