"""A POST to an address that a person chose: to the public network, without redirects, in time.

The host is resolved once, each of its addresses is looked at, and the connection goes to one that
was. So no name that answers otherwise a moment later leads inside.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from knowledge.curation.errors import CurationError
from knowledge.lookup.database import give_connection_back

FIELD = "url"
LONGEST, EXCERPT = 500, 500
LIMIT_S = 5.0
ACCEPTED = "accepted: an https address, or http to this host where KOPT_WEBHOOK_PRIVATE is set"
# IANA has given out no other part of IPv6 to the public network (RFC 4291) ...
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
# ... but for an IPv4 address inside of an IPv6 one, as NAT64 writes it for everybody (RFC 6052).
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# What IANA's special registries list within the public network: protocols (Teredo among them),
# 6to4 with its relays, and documentation.
SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "192.88.99.0/24"),
    )
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """status: None where nothing was answered; text: the begin of the answer, or why not."""

    status: int | None
    text: str


def require_sendable(url: str) -> tuple[SplitResult, str]:
    """The parts of the address, and the number that its host has now. Raises CurationError."""
    if len(url) > LONGEST or not url.isprintable() or not url.isascii() or " " in url:
        raise CurationError(FIELD, f"{ACCEPTED}, of at most {LONGEST} ASCII characters")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise CurationError(FIELD, ACCEPTED) from None
    if parts.scheme not in ("https", "http") or not host or port == 0:
        raise CurationError(FIELD, ACCEPTED)
    if parts.username is not None or parts.password is not None:
        raise CurationError(FIELD, "no name and no password in it; the signature says who sends")
    found = _resolved(host, port or _usual_port(parts))
    is_here = all(address.is_loopback for address in found)
    if not settings.KOPT_WEBHOOK_PRIVATE and not all(map(_is_public, found)):
        raise CurationError(FIELD, f"{host} is not on the public network; {ACCEPTED}")
    if parts.scheme == "http" and not is_here:
        raise CurationError(FIELD, ACCEPTED)
    return parts, str(found[0])


def post(url: str, body: bytes, headers: Mapping[str, str]) -> PostAnswer:
    """Send it and read the begin of the answer. Nothing is raised: what failed is in the answer."""
    try:
        parts, number = require_sendable(url)
    except CurationError as error:
        return PostAnswer(None, error.message)
    connection = _Pinned(parts, number)
    # A timeout of a socket is of one read; an answer byte by byte would hold the worker.
    watch = threading.Timer(LIMIT_S, connection.cut)
    watch.start()
    try:
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        connection.request("POST", path, body, dict(headers))
        answer = connection.getresponse()
        text = answer.read(EXCERPT).decode(errors="replace").replace("\0", "")
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = f"no whole answer within {LIMIT_S:g} s"
        said = late if connection.was_cut or isinstance(error, TimeoutError) else str(error)
        return PostAnswer(None, said[:EXCERPT] or type(error).__name__)
    finally:
        watch.cancel()
        connection.close()
    if 300 <= answer.status < 400:
        text = f"a redirect, which is not followed. {text}"[:EXCERPT]
    return PostAnswer(answer.status, text)


class _Pinned(http.client.HTTPConnection):
    """A connection to one number, under the name of the host for TLS and for `Host`."""

    def __init__(self, parts: SplitResult, number: str) -> None:
        super().__init__(parts.hostname or "", parts.port or _usual_port(parts), timeout=LIMIT_S)
        self._number, self._is_tls = number, parts.scheme == "https"
        self.was_cut = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self._number, self.port), LIMIT_S)
        if self._is_tls:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def cut(self) -> None:
        """End whatever is going on."""
        self.was_cut = True
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


def _usual_port(parts: SplitResult) -> int:
    return http.client.HTTPS_PORT if parts.scheme == "https" else http.client.HTTP_PORT


def _resolved(host: str, port: int) -> list[Address]:
    give_connection_back()
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CurationError(FIELD, f"the host {host:.80} is not known") from None
    numbers = dict.fromkeys(str(row[4][0]).partition("%")[0] for row in rows)
    return [ipaddress.ip_address(number) for number in numbers]


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            return _is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
        if address not in GLOBAL_UNICAST:
            return False
    special = any(address in network for network in SPECIAL)
    return address.is_global and not address.is_multicast and not special
