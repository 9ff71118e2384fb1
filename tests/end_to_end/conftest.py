"""Commands as a shell runs them, in this process, with the real evaluator behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import load_command_class

from campaigns.devices.discover import ensure_platform
from campaigns.devices.launch import EvaluatorService
from tests.campaigns.steps import cast
from tests.end_to_end.answer import Answer
from tests.evaluator import small

COMMANDS = "campaigns.management.commands"


@pytest.fixture(scope="session")
def service() -> Iterator[EvaluatorService]:
    with EvaluatorService() as running:
        yield running


@pytest.fixture(autouse=True)
def on_this_cpu(service: EvaluatorService, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """One evaluator for all tests, short limits and bursts, and ceilings that end nothing."""
    settings.KOPT_DEVICE, settings.KOPT_GATE = "cpu", "OFF"
    for name in ("one_file", "commands.campaign"):
        place = f"campaigns.management.{name}.EvaluatorService"
        monkeypatch.setattr(place, lambda **_: nullcontext(service))
    monkeypatch.setattr("campaigns.steps.lifecycle.create_campaign.CPU_PROTOCOL", small.QUICK)
    for name, ceiling in (("bandwidth", cast.BANDWIDTH), ("compute", cast.COMPUTE)):
        found = [replace(ceiling, value=1e18)]
        monkeypatch.setattr(
            f"campaigns.records.target.ceilings.{name}_ceilings",
            lambda *_, found=found, **__: found,
        )
    monkeypatch.setattr(
        f"{COMMANDS}.campaign.prepare_platform", lambda device, *_, **__: ensure_platform(device)
    )


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Any
) -> Callable[..., Answer]:
    """Run a command to its end; nothing may be left in the scratch folder."""
    monkeypatch.setattr("campaigns.management.base_command.connections.close_all", lambda: None)

    def go(name: str, *arguments: str | Path) -> Answer:
        code: Any = 0
        try:
            command = load_command_class("campaigns", name)
            command.run_from_argv(["manage.py", name, *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        out, said = capsys.readouterr()
        assert list(settings.DATA_DIR.glob("scratch/*")) == []
        return Answer(code, out, said.splitlines())

    return go
