"""Inputs of the mutations of accounts, sessions, the second factor and relationships."""

import strawberry

from resolvers.credentials import EMAIL_MOST, PASSWORD_LEAST, PASSWORD_MOST
from schema.types.descriptions import enum, limit
from schema.types.images import ImageInput
from store.records import members as records
from store.secret import Secret

LOGIN = "1 to 20 of a-z, A-Z, 0-9 and _, which no other member has in any case."
NAME = f"The display name, 1 to {limit('max_name')} characters in one line."
EMAIL = f"An e-mail address of at most {EMAIL_MOST} characters that no other member has."
NEW_PASSWORD = (
    f"{PASSWORD_LEAST} to {PASSWORD_MOST:,} characters. Common passwords, one character repeated, and the login, name "
    "or e-mail address are refused with WEAK_PASSWORD."
)
OF_A_LINK = "The token that the link in a mail ends with. It works once."
CODE = "A code of the viewer's authenticator app, six digits that work once and for about a minute"
CONFIRMATION = "The viewer's password, as a confirmation."

MessageAudience = enum(
    records.MessageAudience,
    "Who may begin a conversation with a member, add them to one, or write to them in one of two.",
    EVERYONE="Every member.",
    FOLLOWED="Members whom they follow.",
    NOBODY="Nobody.",
)


@strawberry.input(description="A new account.")
class SignUpInput:
    login: str = strawberry.field(description=LOGIN)
    name: str = strawberry.field(description=NAME)
    email: str = strawberry.field(description=EMAIL)
    password: Secret = strawberry.field(description=NEW_PASSWORD)


@strawberry.input(description="The credentials of a member who logs in.")
class LogInInput:
    identifier: str = strawberry.field(description="A login or an e-mail address, in any case.")
    password: Secret = strawberry.field(description="The member's password.")
    device_token: Secret | None = strawberry.field(
        default=None,
        description="The member's token from an earlier session on this device. With it, other people's failed "
        "attempts do not delay the log-in.",
    )
    code: Secret | None = strawberry.field(
        default=None,
        description="A code of the member's authenticator app, or a recovery code. Members with a second factor need "
        'it: without one, the right password is refused with BLANK and the field `["code"]`.',
    )


@strawberry.input(description="A session to go on with.")
class RefreshSessionInput:
    refresh_token: Secret = strawberry.field(
        description="The newest refresh token of the session. The one before it works for "
        f"{limit('refresh_grace_seconds')} more seconds."
    )


@strawberry.input(description="Which sessions to end.")
class LogOutInput:
    everywhere: bool | None = strawberry.field(
        default=False,
        description="Whether to end every session of the viewer, not only this one. The default is false.",
    )


@strawberry.input(description="A session to end.")
class EndSessionInput:
    session_id: strawberry.ID = strawberry.field(description="The id of one of the viewer's sessions.")


@strawberry.input(description="A new password.")
class ChangePasswordInput:
    current_password: Secret = strawberry.field(description=CONFIRMATION)
    new_password: Secret = strawberry.field(description=NEW_PASSWORD)


@strawberry.input(
    description="Changes of the viewer's profile. A field that is left out stays as it is. So does one that is null, "
    "pictures apart."
)
class UpdateProfileInput:
    login: str | None = strawberry.field(
        default=None,
        description=f"{LOGIN} The former login stays reserved for {limit('login_release_days')} days, at most "
        f"{limit('former_logins')} at a time.",
    )
    name: str | None = strawberry.field(default=None, description=NAME)
    bio: str | None = strawberry.field(
        default=None,
        description=f"A text of the viewer about themselves, at most {limit('max_bio')} characters. It may be empty.",
    )
    is_private: bool | None = strawberry.field(
        default=None,
        description="Whether the viewer approves each follower. True keeps the followers, false approves all requests.",
    )
    messages_from: records.MessageAudience | None = strawberry.field(
        default=None,
        description="Who may begin a conversation with the viewer. Conversations of more than two go on as they are.",
    )
    avatar: ImageInput | None = strawberry.field(
        default=strawberry.UNSET,
        description="An upload for an avatar. It replaces the one before, and null removes it.",
    )
    header: ImageInput | None = strawberry.field(
        default=strawberry.UNSET, description="An upload for a header. It replaces the one before, and null removes it."
    )


@strawberry.input(description="A new e-mail address.")
class ChangeEmailInput:
    email: str = strawberry.field(description=EMAIL)
    current_password: Secret = strawberry.field(description=CONFIRMATION)


@strawberry.input(description="The confirmation that the account is to be deleted.")
class DeleteAccountInput:
    password: Secret = strawberry.field(description=CONFIRMATION)


@strawberry.input(description="The confirmation that the viewer's data is to be exported.")
class ExportDataInput:
    password: Secret = strawberry.field(description=CONFIRMATION)


@strawberry.input(
    description="One or many members at once. A refusal of one does not stop the others, and `userErrors` names each."
)
class UsersInput:
    user_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of the members, at least one and at most {limit('max_ids')}. More are refused with "
        "BAD_USER_INPUT."
    )


@strawberry.input(description="The token of a link in a mail.")
class TokenInput:
    token: Secret = strawberry.field(description=OF_A_LINK)


@strawberry.input(description="A member who cannot log in any more.")
class RequestPasswordResetInput:
    email: str = strawberry.field(description="The e-mail address of the account.")


@strawberry.input(description="A new password, by a link in a mail.")
class ResetPasswordInput:
    token: Secret = strawberry.field(description=OF_A_LINK)
    new_password: Secret = strawberry.field(description=NEW_PASSWORD)
    code: Secret | None = strawberry.field(
        default=None,
        description="A code of the member's authenticator app, or a recovery code, which members with a second factor "
        "need.",
    )


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
