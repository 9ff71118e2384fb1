"""`up`: web server and workers of this machine in one terminal, or one of them alone."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections, transaction
from django.utils import timezone

from campaigns.devices.discover import Device, DeviceError, this_device
from campaigns.management.base_command import Argument, BaseCommand, ExitCode, Exits, argument
from campaigns.management.children import Child, ChildFails, end_all, web, worker
from campaigns.management.prepare import prepare_database, prepare_platform
from campaigns.models import Campaign, Worker
from campaigns.models.campaign import queue_of
from campaigns.problems.shipped import problem_folder
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.control import TargetUnknown, confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.notify import notify
from knowledge.lookup.database import require_migrations
from knowledge.models import Platform

USER = "kopt"
UNTIL_USED = "only its hash is kept; until the first login each start makes a new one"
DEMO_ROUNDS = 6
DEMO_BACKEND = {"cpu": "cpp", "gpu": "triton"}
# On a CPU two cases show a gain within a minute; none named means all.
DEMO_CASES = {"cpu": ("512x1024", "255x2051"), "gpu": ()}
READY_LIMIT_S = 60.0
WEB, FLOW, MEASURE = PARTS = ("web", "flow", "measure")


class Command(BaseCommand):
    help = "Start the web server and the workers of this machine, or one of them alone"
    exits: ClassVar[Exits] = {DeviceError: ExitCode.USAGE, ChildFails: ExitCode.USAGE}

    def arguments(self) -> tuple[Argument, ...]:
        return (
            argument("--host", default="127.0.0.1"),
            argument("--port", type=int, default=8000),
            argument("--demo", action="store_true", help="run the demo campaign if there is none"),
            argument(
                "--only", action="append", choices=PARTS,
                help="start this part alone, on a database that is prepared; may be given again",
            ),
            argument(
                "--name",
                help="of the worker that measures; each of a host needs one of its own",
            ),
        )  # fmt: skip

    def run(self, **options: Any) -> None:
        host, port, name = options["host"], options["port"], options["name"]
        parts = tuple(options["only"] or PARTS)
        if WEB in parts:
            self._require_free(host, port)
        device = this_device() if MEASURE in parts else None
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        if options["only"]:
            require_migrations()
        else:
            prepare_database(self.progress)
        platform = prepare_platform(device, self.progress, always_measured=True) if device else None
        password = _first_password() if WEB in parts else ""
        is_new = not Campaign.objects.measured_here().exists()
        if options["demo"] and device and platform and is_new:
            self._start_demo(device, platform)
        # The children open their own connections; this process only watches from here on.
        connections.close_all()
        children = _children(parts, (host, port), name, platform)
        address = (host, port) if WEB in parts else None
        self._supervise(
            children, _readiness(address, platform), lambda: self._greet(address, password)
        )

    def _require_free(self, host: str, port: int) -> None:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError) as error:
                why = getattr(error, "strerror", None) or str(error)
                self.fail(ExitCode.USAGE, f"--port {port} on {host}: {why}; choose another --port")

    def _start_demo(self, device: Device, platform: Platform) -> None:
        wish = Wish(
            problem=problem_folder("softmax"),
            platform=platform.slug,
            backend=DEMO_BACKEND[device.kind],
            cases=DEMO_CASES[device.kind],
            policy=StopPolicy(max_rounds=DEMO_ROUNDS),
            baselines=True,
            title=f"Demo: row softmax on {platform.name}"[:200],
        )
        try:
            with transaction.atomic():
                campaign = create_campaign(wish)
                notify(campaign, confirm(campaign))
        except TargetUnknown as error:
            self.progress(f"no demo campaign: {error}")
            return
        self.progress(f"demo campaign {campaign.pk}: {campaign.title}")

    def _supervise(
        self, children: list[Child], is_ready: Callable[[], bool], greet: Callable[[], None]
    ) -> None:
        ended = threading.Event()

        def end(number: int, frame: FrameType | None) -> None:
            ended.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        try:
            for child in children:
                child.start()
            ungreeted = True
            while not ended.wait(0.5):
                for child in children:
                    child.revive(self.progress)
                if ungreeted and is_ready():
                    greet()
                    ungreeted = False
        finally:
            self.progress("stopping")
            end_all(children)

    def _greet(self, served_at: tuple[str, int] | None, password: str) -> None:
        address, text = "", "running"
        if served_at is not None:
            host, port = _reached(served_at)
            address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
            text = f"kopt is at {address}"
        if password:
            text += f"\nuser {USER}, password {password} ({UNTIL_USED})"
        data = {"address": address or None, "user": USER, "password": password or None}
        self.emit(
            data, f"{text}\nCtrl-C stops everything; the next start continues where it stopped"
        )


def _children(
    parts: tuple[str, ...], served_at: tuple[str, int], name: str | None, platform: Platform | None
) -> list[Child]:
    folder, children = settings.BASE_DIR, []
    if WEB in parts:
        children.append(web(*served_at, folder))
    if FLOW in parts:
        children.append(worker(FLOW, "default", 2, folder))
    if platform is not None:
        children.append(worker(name or MEASURE, queue_of(platform), 1, folder))
    return children


def _readiness(served_at: tuple[str, int] | None, platform: Platform | None) -> Callable[[], bool]:
    """What says that the pages answer, and that the worker started from now on is alive.

    The first page shall find this device served; where its worker cannot start, pages say so.
    """
    served = Worker.objects.filter(platform=platform, heartbeat_at__gte=timezone.now())
    latest_s = time.monotonic() + READY_LIMIT_S

    def is_ready() -> bool:
        if served_at is not None:
            try:
                socket.create_connection(_reached(served_at), timeout=1).close()
            except OSError:
                return False
        return platform is None or served.exists() or time.monotonic() > latest_s

    return is_ready


def _reached(served_at: tuple[str, int]) -> tuple[str, int]:
    """Where this machine reaches what is served there."""
    host, port = served_at
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port


def _first_password() -> str:
    """A new password for the first user; empty when there are accounts already.

    Until the first login each start makes another one: the last may never have been read.
    """
    users = get_user_model()
    user = users.objects.filter(username=USER, is_superuser=True, last_login=None).first()
    if user is None and users.objects.exists():
        return ""
    password = secrets.token_urlsafe(12)
    if user is None:
        users.objects.create_superuser(username=USER, password=password)
    else:
        user.set_password(password)
        user.save(update_fields=["password"])
    return password
