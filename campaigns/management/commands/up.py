"""`up`: web server and workers of this machine in one terminal; Ctrl-C stops everything."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
import time
from types import FrameType
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections, transaction
from django.utils import timezone

from campaigns.devices.discover import Device, DeviceError, this_device
from campaigns.management.base_command import Argument, BaseCommand, ExitCode, argument
from campaigns.management.children import Child, ChildFails, end_all, web, worker
from campaigns.management.prepare import Tell, prepare_database, prepare_platform
from campaigns.models import Campaign, Worker
from campaigns.models.campaign import queue_of
from campaigns.problems.shipped import problem_folder
from campaigns.rules.stop.policy import StopPolicy
from campaigns.steps.lifecycle.confirm import TargetUnknown, confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.workers.notify import notify
from knowledge.models import Platform

USER = "kopt"
UNTIL_USED = "only its hash is kept; until the first login each start makes a new one"
DEMO_ROUNDS = 6
DEMO_BACKEND = {"cpu": "cpp", "gpu": "triton"}
# On a CPU two cases show a gain within a minute; none named means all.
DEMO_CASES = {"cpu": ("512x1024", "255x2051"), "gpu": ()}
READY_LIMIT_S = 60.0


class Command(BaseCommand):
    help = "Start the web server and the workers of this machine"

    def arguments(self) -> tuple[Argument, ...]:
        return (
            argument("--host", default="127.0.0.1"),
            argument("--port", type=int, default=8000),
            argument("--demo", action="store_true", help="run the demo campaign if there is none"),
        )

    def run(self, **options: Any) -> None:
        host, port = options["host"], options["port"]
        self._require_free(host, port)
        try:
            device = this_device()
        except DeviceError as error:
            self.fail(ExitCode.USAGE, str(error))
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        prepare_database(self.progress)
        platform = prepare_platform(device, self.progress, always_measured=True)
        password = _first_password(self.progress)
        if options["demo"] and not Campaign.objects.exists():
            self._start_demo(device, platform)
        # The children open their own connections; this process only watches from here on.
        connections.close_all()
        folder = settings.BASE_DIR
        children = [
            web(host, port, folder),
            worker("flow", "default", 2, folder),
            worker("measure", queue_of(platform), 1, folder),
        ]
        self._supervise(children, host, port, password, platform)

    def _require_free(self, host: str, port: int) -> None:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError) as error:
                why = getattr(error, "strerror", None) or str(error)
                self.fail(ExitCode.USAGE, f"--port {port} on {host}: {why}; choose another --port")

    def _start_demo(self, device: Device, platform: Platform) -> None:
        try:
            with transaction.atomic():
                campaign = self._demo(device, platform)
                notify(campaign, confirm(campaign))
        except TargetUnknown as error:
            self.progress(f"no demo campaign: {error}")
            return
        self.progress(f"demo campaign {campaign.pk}: {campaign.title}")

    def _demo(self, device: Device, platform: Platform) -> Campaign:
        return create_campaign(
            Wish(
                problem=problem_folder("softmax"),
                platform=platform.slug,
                backend=DEMO_BACKEND[device.kind],
                cases=DEMO_CASES[device.kind],
                policy=StopPolicy(max_rounds=DEMO_ROUNDS),
                baselines=True,
                title=f"Demo: row softmax on {platform.name}"[:200],
            )
        )

    def _supervise(
        self, children: list[Child], host: str, port: int, password: str, platform: Platform
    ) -> None:
        ended = threading.Event()
        # The first page shall find this device served; where its worker cannot start, pages say so.
        served = Worker.objects.filter(platform=platform, heartbeat_at__gte=timezone.now())
        latest_s = time.monotonic() + READY_LIMIT_S

        def end(number: int, frame: FrameType | None) -> None:
            ended.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        try:
            for child in children:
                child.start()
            ungreeted = _answers(host, port, ended)
            while not ended.wait(0.5):
                for child in children:
                    child.revive(self.progress)
                if ungreeted and (served.exists() or time.monotonic() > latest_s):
                    self._greet(host, port, password)
                    ungreeted = False
        except ChildFails as error:
            self.fail(ExitCode.USAGE, str(error))
        finally:
            self.progress("stopping")
            end_all(children)

    def _greet(self, host: str, port: int, password: str) -> None:
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"
        text = f"kopt is at {address}"
        if password:
            text += f"\nuser {USER}, password {password} ({UNTIL_USED})"
        data = {"address": address, "user": USER, "password": password or None}
        self.emit(
            data, f"{text}\nCtrl-C stops everything; the next start continues where it stopped"
        )
        self.stdout.flush()


def _first_password(tell: Tell) -> str:
    """A new password for the first user, printed at once; empty when there are accounts already.

    Until the first login each start makes another one: the last may never have been read.
    """
    users = get_user_model()
    user = users.objects.filter(username=USER, is_superuser=True, last_login=None).first()
    if user is None and users.objects.exists():
        return ""
    password = secrets.token_urlsafe(12)
    # Printed before it is stored, so that no unseen password is kept when this process is ended.
    tell(f"user {USER}, password {password} ({UNTIL_USED})")
    if user is None:
        users.objects.create_superuser(username=USER, password=password)
    else:
        user.set_password(password)
        user.save(update_fields=["password"])
    return password


def _answers(host: str, port: int, ended: threading.Event) -> bool:
    """Wait until the web server accepts connections."""
    target = ("127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host, port)
    deadline = time.monotonic() + READY_LIMIT_S
    while time.monotonic() < deadline and not ended.wait(0.1):
        try:
            with socket.create_connection(target, timeout=1):
                return True
        except OSError:
            continue
    return False
