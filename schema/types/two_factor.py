"""Inputs and payloads of the second factor."""

from __future__ import annotations

import strawberry

from resolvers.operation.payloads import ConfirmTwoFactorPayload as ConfirmResult
from resolvers.operation.payloads import EnableTwoFactorPayload as EnableResult
from resolvers.process.one_time_codes import RECOVERY_CODES
from schema.types.account_inputs import CONFIRMATION
from schema.types.descriptions import USER_ERRORS
from schema.types.nodes import UserError
from schema.types.viewer import Viewer
from store.secret import Secret

CODE = "A code of the viewer's authenticator app, six digits that work once and for about a minute"


@strawberry.input(description="The wish for a second factor.")
class EnableTwoFactorInput:
    password: Secret = strawberry.field(description=CONFIRMATION)


@strawberry.input(description="The proof that an authenticator app has the new secret.")
class ConfirmTwoFactorInput:
    code: Secret = strawberry.field(description=f"{CODE}.")


@strawberry.input(description="The confirmation that the second factor is to be turned off.")
class DisableTwoFactorInput:
    password: Secret = strawberry.field(description=CONFIRMATION)
    code: Secret = strawberry.field(description=f"{CODE}, or a recovery code.")


def _secret(root: EnableResult) -> str | None:
    return root.secret.reveal() if root.secret else None


def _uri(root: EnableResult) -> str | None:
    return root.uri.reveal() if root.uri else None


@strawberry.type(description="A secret for the viewer's authenticator app. It is shown once.")
class EnableTwoFactorPayload:
    secret: str | None = strawberry.field(
        resolver=_secret, description="The secret, in base32, for apps that take it typed. Null when it was refused."
    )
    uri: str | None = strawberry.field(
        resolver=_uri,
        description="The secret as an `otpauth:` URI, which apps read from a QR code. Null when it was refused.",
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


def _recovery_codes(root: ConfirmResult) -> list[str] | None:
    return None if root.recovery_codes is None else [code.reveal() for code in root.recovery_codes]


@strawberry.type(description="The second factor, which is on now.")
class ConfirmTwoFactorPayload:
    recovery_codes: list[str] | None = strawberry.field(
        resolver=_recovery_codes,
        description=f"{RECOVERY_CODES} codes, each of which works once in place of a code of the app. They are shown "
        "once, and to be kept where the app is not. Null when it was refused.",
    )
    viewer: Viewer | None = strawberry.field(
        description="The viewer, as they are after the mutation. Null when it was refused."
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)
