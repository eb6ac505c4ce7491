"""Inputs of the second factor."""

import strawberry

from schema.types.account_inputs import CONFIRMATION
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
