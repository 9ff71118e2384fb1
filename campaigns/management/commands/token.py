"""`token`: what programs show to the HTTP API instead of a session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument
from knowledge.curation.errors import CurationError
from knowledge.curation.tokens import USUAL_DAYS, new_token, revoke, token_record, tokens_of
from knowledge.models.token import Scope


class Command(BaseCommand):
    help = "Tokens for the HTTP API."

    def verbs(self) -> tuple[Verb, ...]:
        more = [scope.value for scope in Scope if scope != Scope.READ]
        user = argument("--user", help="of this person; default: of everybody")
        return (
            Verb(
                "new",
                "make a token and print it, this once",
                self.new,
                (
                    argument("name", help="what it is for"),
                    argument("--user", required=True, help="the person that it acts for"),
                    argument(
                        "--scope", action="append", choices=more, default=[], dest="scopes",
                        help="what it may do beside reading; may be given again",
                    ),
                    argument(
                        "--days", type=int, default=USUAL_DAYS,
                        help=f"until it expires; default: {USUAL_DAYS}",
                    ),
                ),
            ),
            Verb("list", "every token, without what opens", self.list_all, (user,)),
            Verb(
                "revoke", "take a token back", self.revoke, (argument("key", help="as listed"),)
            ),
        )  # fmt: skip

    def new(self, *, name: str, user: str, scopes: list[str], days: int, **options: Any) -> None:
        made, text = new_token(self._person(user), name, scopes, days)
        self.emit(token_record(made) | {"token": text}, text)
        self.progress(f"keep it now, it is not stored; it expires at {made.expiry:%Y-%m-%d %H:%M}")

    def list_all(self, *, user: str | None, **options: Any) -> None:
        rows = [token_record(t) for t in tokens_of(self._person(user) if user else None)]
        lines = (
            f"{row['key']}  {row['user']}  {','.join(row['scopes'])}  "
            f"{'expired' if row['expired'] else 'expires'} {row['expiry']}  {row['name']}"
            for row in rows
        )
        self.emit(rows, "\n".join(lines))

    def revoke(self, *, key: str, **options: Any) -> None:
        try:
            gone = revoke(tokens_of(), key)
        except CurationError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        self.emit(token_record(gone), f"revoked {gone.token_key} ({gone.name})")

    def _person(self, name: str) -> User:
        found = User.objects.filter(username=name, is_active=True).first()
        if found is None:
            self.fail(ExitCode.NOT_FOUND, f"user '{name}': accepted: the name of an active user")
        return found
