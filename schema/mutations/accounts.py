"""The mutations of accounts, sessions, addresses and the second factor, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers import accounts, exports, sessions, two_factor
from resolvers.mail import password_resets, verification
from schema.mutations.declaring import mutation, mutation_without_input
from schema.types.account_inputs import (
    ChangeEmailInput,
    ChangePasswordInput,
    ConfirmTwoFactorInput,
    DeleteAccountInput,
    DisableTwoFactorInput,
    EnableTwoFactorInput,
    EndSessionInput,
    ExportDataInput,
    LogInInput,
    LogOutInput,
    RefreshSessionInput,
    RequestPasswordResetInput,
    ResetPasswordInput,
    SignUpInput,
    TokenInput,
    UpdateProfileInput,
)
from schema.types.descriptions import limit


@strawberry.type
class AccountMutations:
    sign_up = mutation(
        accounts.sign_up,
        SignUpInput,
        f"Creates an account and begins a session. One address may do so {limit('sign_ups_per_hour')} times an hour.",
        suspended=True,
    )
    log_in = mutation(
        sessions.log_in,
        LogInInput,
        "Begins a session. After too many failed attempts it is refused with RATE_LIMITED: "
        f"{limit('log_in_attempts')} in a quarter of an hour per identifier.",
        suspended=True,
    )
    refresh_session = mutation(
        sessions.refresh_session,
        RefreshSessionInput,
        "Trades a refresh token for new tokens. The old refresh token stops working.",
        suspended=True,
    )
    log_out = mutation(
        sessions.log_out,
        LogOutInput,
        "Ends the session at once, its open websockets and event streams too.",
        optional=True,
        suspended=True,
    )
    end_session = mutation(
        sessions.end_session,
        EndSessionInput,
        "Ends one of the viewer's sessions at once, its open websockets and event streams too. Ending the "
        "current one logs out, and `viewer` is then null.",
        suspended=True,
    )
    enable_two_factor = mutation(
        two_factor.enable_two_factor,
        EnableTwoFactorInput,
        "Gives the viewer a secret for an authenticator app. Nothing changes until `confirmTwoFactor`. "
        "While the second factor is on, it is refused with NOT_ALLOWED.",
        suspended=True,
    )
    confirm_two_factor = mutation(
        two_factor.confirm_two_factor,
        ConfirmTwoFactorInput,
        "Turns the second factor on: from now on, the viewer's log-ins need a code beside the password. "
        "Ends every other session of the viewer.",
        suspended=True,
    )
    disable_two_factor = mutation(
        two_factor.disable_two_factor,
        DisableTwoFactorInput,
        "Turns the second factor off, and drops the recovery codes.",
        suspended=True,
    )
    change_password = mutation(
        sessions.change_password,
        ChangePasswordInput,
        "Changes the password, and ends every other session of the viewer.",
        suspended=True,
    )
    update_profile = mutation(accounts.update_profile, UpdateProfileInput, "Changes the viewer's profile.")
    export_data = mutation(
        exports.export_data,
        ExportDataInput,
        "Prepares everything that Perch keeps of the viewer, as a file to be fetched once. A member does "
        f"so {limit('exports_per_day')} times a day at most. A second link of one session replaces the first.",
        suspended=True,
    )
    delete_account = mutation(
        accounts.delete_account,
        DeleteAccountInput,
        "Deletes the account and everything that the member ever did, and ends every session. The login "
        f"and the verified address stay reserved for {limit('login_release_days')} days.",
        suspended=True,
    )
    change_email = mutation(
        verification.change_email,
        ChangeEmailInput,
        "The new address counts once it is verified; until then the old one does. The link in the mail "
        f"works for {limit('verification_hours')} hours.",
        suspended=True,
    )
    resend_verification = mutation_without_input(
        verification.resend_verification,
        "Sends the link that verifies the address again, at most "
        f"{limit('verification_mails_per_hour')} times an hour. The link before it stops working.",
        suspended=True,
    )
    verify_email = mutation(
        verification.verify_email,
        TokenInput,
        "Verifies an address by the token of the link that was sent to it. A new address takes effect.",
        suspended=True,
    )
    request_password_reset = mutation(
        password_resets.request_password_reset,
        RequestPasswordResetInput,
        "Sends a link that resets the password, at most one an hour. Always the same answer, whether or "
        "not the address has an account.",
        suspended=True,
    )
    reset_password = mutation(
        password_resets.reset_password,
        ResetPasswordInput,
        "Sets a new password by the token of a link. Ends every session and begins a new one.",
        suspended=True,
    )
