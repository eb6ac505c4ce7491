"""The mutations of accounts, sessions and the second factor, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers import accounts, exports, sessions, two_factor
from schema.mutations.declaring import mutation
from schema.types.account_inputs import (
    ChangePasswordInput,
    DeleteAccountInput,
    EndSessionInput,
    ExportDataInput,
    LogInInput,
    LogOutInput,
    RefreshSessionInput,
    SignUpInput,
    UpdateProfileInput,
)
from schema.types.descriptions import limit
from schema.types.two_factor import ConfirmTwoFactorInput, DisableTwoFactorInput, EnableTwoFactorInput


@strawberry.type
class AccountMutations:
    sign_up = mutation(
        accounts.sign_up,
        SignUpInput,
        description="Creates an account and begins a session. One address may do so "
        f"{limit('sign_ups_per_hour')} times an hour.",
        suspended=True,
    )
    log_in = mutation(
        sessions.log_in,
        LogInInput,
        description="Begins a session. After too many failed attempts it is refused with RATE_LIMITED: "
        f"{limit('log_in_attempts')} in a quarter of an hour per identifier.",
        suspended=True,
    )
    refresh_session = mutation(
        sessions.refresh_session,
        RefreshSessionInput,
        description="Trades a refresh token for new tokens. The old refresh token stops working.",
        suspended=True,
    )
    log_out = mutation(
        sessions.log_out,
        LogOutInput,
        optional=True,
        description="Ends the session at once, its open websockets and event streams too.",
        suspended=True,
    )
    end_session = mutation(
        sessions.end_session,
        EndSessionInput,
        description="Ends one of the viewer's sessions at once, its open websockets and event streams too. Ending the "
        "current one logs out, and `viewer` is then null.",
        suspended=True,
    )
    enable_two_factor = mutation(
        two_factor.enable_two_factor,
        EnableTwoFactorInput,
        description="Gives the viewer a secret for an authenticator app. Nothing changes until `confirmTwoFactor`. "
        "While the second factor is on, it is refused with NOT_ALLOWED.",
        suspended=True,
    )
    confirm_two_factor = mutation(
        two_factor.confirm_two_factor,
        ConfirmTwoFactorInput,
        description="Turns the second factor on: from now on, the viewer's log-ins need a code beside the password. "
        "Ends every other session of the viewer.",
        suspended=True,
    )
    disable_two_factor = mutation(
        two_factor.disable_two_factor,
        DisableTwoFactorInput,
        description="Turns the second factor off, and drops the recovery codes.",
        suspended=True,
    )
    change_password = mutation(
        sessions.change_password,
        ChangePasswordInput,
        description="Changes the password, and ends every other session of the viewer.",
        suspended=True,
    )
    update_profile = mutation(
        accounts.update_profile,
        UpdateProfileInput,
        description="Changes the viewer's profile.",
    )
    export_data = mutation(
        exports.export_data,
        ExportDataInput,
        description="Prepares everything that Perch keeps of the viewer, as a file to be fetched once. A member does "
        f"so {limit('exports_per_day')} times a day at most. A second link of one session replaces the first.",
        suspended=True,
    )
    delete_account = mutation(
        accounts.delete_account,
        DeleteAccountInput,
        description="Deletes the account and everything that the member ever did, and ends every session. The login "
        f"and the verified address stay reserved for {limit('login_release_days')} days.",
        suspended=True,
    )
