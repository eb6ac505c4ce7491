"""Random steps with addresses: changes whose links are followed, or not, and passwords reset by a link."""

from resolvers.process.tokens import Tokens, digest
from store import keys
from store.ids import partition
from store.keys.fields import MailTokenField
from store.mail import tokens
from store.mail.letters import Letter, MailKind
from store.records.lists import read_pairs
from store.refusals import accepted
from tests.support.model.life import Life
from tests.support.people import PASSWORD, SECRET, Member
from tests.support.work import number

UNFOLLOWED = 0.3  # share of links that nobody follows
ADDRESSES = 3  # that a member changes between
VIEWER = "{ viewer { email isEmailVerified } }"


class Addresses(Life):
    """Steps with addresses. Each is applied to the model too."""

    async def _address(self) -> None:
        if self.is_disturbed:
            return  # an answer that is lost may have used the link up
        me = self._someone()
        wanted = f"{me.login}.{self.lot.randrange(ADDRESSES)}@example.net"
        self._log(f"{me.login} wants the address {wanted}")
        assert (await me.do("changeEmail", email=wanted, currentPassword=PASSWORD))["userErrors"] == []
        await self._check_address(me)
        if self.lot.random() < UNFOLLOWED or self.model.addresses.get(me.login) == wanted:
            return
        self._log(f"{me.login} follows the link to {wanted}")
        token = await self._link(me, MailTokenField.VERIFICATION)
        if self._crashes():
            letter = Letter(kind=MailKind.ADDRESS_CHANGED, member=str(number(me.id)))
            job = accepted(await tokens.verify_email(self.db, number(me.id), digest(token), letter))
            await self._die_in(job)
        else:
            assert (await me.do("verifyEmail", token=token))["userErrors"] == []
        self.model.addresses[me.login] = wanted
        await self._check_address(me)

    async def _forget_password(self) -> None:
        if self.is_disturbed or self.db.settings.rate_limit:  # with limits, an address gets one mail an hour
            return
        me = self._someone()
        self._log(f"{me.login} resets the password")
        address = self.model.addresses.get(me.login, f"{me.login}@example.org")
        await self.anonymous.do("requestPasswordReset", email=address)
        token = await self._link(me, MailTokenField.RESET)
        payload = await self.anonymous.do("resetPassword", "accessToken", token=token, newPassword=PASSWORD)
        assert payload["userErrors"] == []
        me.token = payload["accessToken"]
        self.model.addresses[me.login] = address  # verified by the link

    async def _check_address(self, me: Member) -> None:
        """Compare the address that counts with the model's."""
        followed = self.model.addresses.get(me.login)
        wanted = {"email": followed or f"{me.login}@example.org", "isEmailVerified": followed is not None}
        assert await me.ask(VIEWER) == wanted

    async def _link(self, me: Member, purpose: str) -> str:
        """Return the token that the newest mail to a member would have in its link."""
        member, signer = number(me.id), Tokens(self.db.settings, SECRET)
        stored = await tokens.token(self.db, member, purpose)
        assert stored
        for text in read_pairs(await self.db.one("HGETALL", keys.mails(partition(member)))).values():
            token = signer.mail_token(purpose, member, Letter.read(text).nonce).reveal()
            if digest(token) == stored.digest:
                return token
        raise AssertionError(f"no mail to {me.login} has the link for {purpose}")
