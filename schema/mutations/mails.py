"""The mutations of e-mail addresses and forgotten passwords, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers.mail import password_resets, verification
from schema.mutations.declaring import mutation, mutation_without_input
from schema.types.account_inputs import ChangeEmailInput, RequestPasswordResetInput, ResetPasswordInput, TokenInput
from schema.types.descriptions import limit


@strawberry.type
class MailMutations:
    change_email = mutation(
        verification.change_email,
        ChangeEmailInput,
        description="The new address counts once it is verified; until then the old one does. The link in the mail "
        f"works for {limit('verification_hours')} hours.",
        suspended=True,
    )
    resend_verification = mutation_without_input(
        verification.resend_verification,
        description="Sends the link that verifies the address again, at most "
        f"{limit('verification_mails_per_hour')} times an hour. The link before it stops working.",
        suspended=True,
    )
    verify_email = mutation(
        verification.verify_email,
        TokenInput,
        description="Verifies an address by the token of the link that was sent to it. A new address takes effect.",
        suspended=True,
    )
    request_password_reset = mutation(
        password_resets.request_password_reset,
        RequestPasswordResetInput,
        description="Sends a link that resets the password, at most one an hour. Always the same answer, whether or "
        "not the address has an account.",
        suspended=True,
    )
    reset_password = mutation(
        password_resets.reset_password,
        ResetPasswordInput,
        description="Sets a new password by the token of a link. Ends every session and begins a new one.",
        suspended=True,
    )
