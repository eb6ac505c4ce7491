"""The pages at /verify and /reset: a form, and its answer. They call the schema's mutations, as every client does."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from aiohttp import hdrs, web
from strawberry.types.graphql import OperationType

from resolvers.mail.composing import RESET_PATH as RESET
from resolvers.mail.composing import VERIFY_PATH as VERIFY
from resolvers.process.errors import RequestError
from schema.execution.operations import Schema
from schema.execution.ports import NewContext, Services
from serving.http import requests
from serving.http.middleware import REQUEST_ID
from serving.http.pages.layout import alert, entry, form, hidden, link, page, paragraph
from serving.http.requests import BODY_SECONDS, Proxies, RequestRefused

VERIFYING = "mutation VerifyEmail($input: TokenInput!) { verifyEmail(input: $input) { userErrors { message } } }"
REQUESTING = """mutation RequestPasswordReset($input: RequestPasswordResetInput!) {
  requestPasswordReset(input: $input) { userErrors { message } }
}"""
RESETTING = """mutation ResetPassword($input: ResetPasswordInput!) {
  resetPassword(input: $input) { userErrors { message field } }
}"""

_FORM = "application/x-www-form-urlencoded"
_REFUSED = 422
_TROUBLE = "This did not work just now. Please try again in a while."
_NEW_PASSWORD = entry("password", "New password", "password", "new-password")
_CODE = entry("code", "Code of your authenticator app, or a recovery code", "text", "one-time-code")
_ADDRESS = entry("email", "Your e-mail address", "email", "email")


class MailLinkPages:
    """The pages that the links in mails open."""

    def __init__(self, schema: Schema, services: Services, new_context: NewContext, proxies: Proxies) -> None:
        self._schema = schema
        self._services = services
        self._new_context = new_context
        self._proxies = proxies

    def add_routes(self, app: web.Application) -> None:
        """Add the pages to an application."""
        app.router.add_get(VERIFY, self._ask_to_verify)
        app.router.add_post(VERIFY, self._verify)
        app.router.add_get(RESET, self._ask_to_reset)
        app.router.add_post(RESET, self._reset)

    async def _ask_to_verify(self, request: web.Request) -> web.Response:
        token = request.query.get("token", "")
        return page(
            "Your e-mail address",
            paragraph("Is this address yours? Then press the button."),
            form(VERIFY, "Yes, it is mine", hidden("token", token)),
        )

    async def _verify(self, request: web.Request) -> web.Response:
        fields = await _fields(request)
        errors = await self._run(request, VERIFYING, {"token": fields.get("token", "")})
        if errors:
            advice = "You can ask for a new link wherever you are logged in."
            return page("Your e-mail address", alert(_sentence(errors[0])), paragraph(advice), status=_REFUSED)
        return page("Thank you", paragraph("Your e-mail address is verified. You can close this page."))

    async def _ask_to_reset(self, request: web.Request) -> web.Response:
        if token := request.query.get("token", ""):
            return page("A new password", *_password_form(token))
        return page(
            "A new password",
            paragraph("We send you a link with which you can choose a new password."),
            form(RESET, "Send the link", _ADDRESS),
        )

    async def _reset(self, request: web.Request) -> web.Response:
        fields = await _fields(request)
        if "email" in fields:
            return await self._request_reset(request, fields["email"])
        token = fields.get("token", "")
        asked = {"token": token, "newPassword": fields.get("password", ""), "code": fields.get("code")}
        errors = await self._run(request, RESETTING, asked)
        if not errors:
            done = "Your password is changed, and all your sessions have ended. You can log in with it now."
            return page("Thank you", paragraph(done))
        shown = [alert(_sentence(error)) for error in errors]
        wrong = [error.get("field") for error in errors]
        if ["newPassword"] in wrong or ["code"] in wrong:
            needs_code = "code" in fields or ["code"] in wrong
            return page("A new password", *shown, *_password_form(token, needs_code=needs_code), status=_REFUSED)
        return page("A new password", *shown, link(RESET, "Ask for a new link"), status=_REFUSED)

    async def _request_reset(self, request: web.Request, email: str) -> web.Response:
        errors = await self._run(request, REQUESTING, {"email": email})
        if errors:
            again = form(RESET, "Send the link", _ADDRESS)
            return page("A new password", alert(_sentence(errors[0])), again, status=_REFUSED)
        sent = "If this address has an account, a link is on its way. At most one is sent in an hour."
        return page("Please look into your mail", paragraph(sent))

    async def _run(self, request: web.Request, document: str, asked: Mapping[str, str | None]) -> list[dict[str, Any]]:
        """Run a mutation for an anonymous client; returns its user errors."""
        context = self._new_context(
            self._services,
            None,
            address=self._proxies.of_request(request),
            user_agent=requests.user_agent(request.headers),
            request_id=request[REQUEST_ID],
        )
        result: Any = await self._schema.execute(
            document,
            variable_values={"input": asked},
            context_value=context,
            allowed_operation_types={OperationType.MUTATION},
        )
        if result.errors:
            error = result.errors[0]
            shown = error.message if isinstance(error, RequestError) and error.code == "RATE_LIMITED" else _TROUBLE
            return [{"message": shown}]
        (payload,) = result.data.values()
        errors: list[dict[str, Any]] = payload["userErrors"]
        return errors


def _password_form(token: str, *, needs_code: bool = False) -> tuple[str, ...]:
    asked = (_NEW_PASSWORD, _CODE) if needs_code else (_NEW_PASSWORD,)
    return (
        paragraph("Please choose a new password of at least ten characters. Every session of your account ends."),
        form(RESET, "Set the password", hidden("token", token), *asked),
    )


async def _fields(request: web.Request) -> dict[str, str]:
    """Return the fields of a form that was sent; raises RequestRefused."""
    if request.content_type != _FORM:
        raise RequestRefused(415, f"Content-Type must be {_FORM}", {hdrs.ACCEPT: _FORM})
    try:
        async with asyncio.timeout(BODY_SECONDS):
            text = (await request.read()).decode()
    except TimeoutError:
        raise RequestRefused(408, f"The body must be here within {BODY_SECONDS} s") from None
    except UnicodeDecodeError:
        raise RequestRefused(400, "The body must be UTF-8") from None
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}


def _sentence(error: dict[str, Any]) -> str:
    """Return an error's message for people: without the name of the field."""
    text = str(error["message"]).removeprefix("token: ").removeprefix("newPassword: ").removeprefix("email: ")
    text = text.removeprefix("code: ")
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
