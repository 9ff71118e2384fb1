"""Make an installation usable: schema, shipped wiki, this device's platform and its ceilings."""

from __future__ import annotations

from collections.abc import Callable

from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from campaigns.devices.discover import Device, ensure_platform
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.passport import measure_ceilings
from campaigns.evaluator.contract.ceilings import CeilingsError
from knowledge.exchange.importer import import_wiki
from knowledge.exchange.readers.files import ImportRefused
from knowledge.lookup.database import ask_no_more
from knowledge.lookup.usage import measured_here
from knowledge.lookup.value import MEASURED_BANDWIDTHS, bandwidth_ceilings
from knowledge.models import Platform
from knowledge.specs.cited import UNKNOWN

Tell = Callable[[str], None]


def prepare_database(tell: Tell) -> None:
    """Apply what migrations are missing and import the shipped wiki; quick when all is there."""
    ask_no_more()
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        tell("preparing the database")
        call_command("migrate", interactive=False, verbosity=0)
    import_wiki()


def prepare_platform(device: Device, tell: Tell, *, always_measured: bool) -> Platform:
    """The device's platform, measured where it has no bandwidth ceiling.

    always_measured: also where ceilings are known, but not from this installation's own devices.
    """
    platform = ensure_platform(device)
    if always_measured:
        # What came with the wiki was measured on another card of this model.
        known = measured_here(platform, MEASURED_BANDWIDTHS)
    else:
        known = bool(bandwidth_ceilings(platform))
    if not known:
        tell(f"measuring the ceilings of {device.name} (once, about a minute)")
        try:
            for note in measure_ceilings(device).notes:
                tell(f"note: {note}")
        except (CeilingsError, DeviceBusy, ImportRefused) as error:
            tell(f"not measured: {error}; without ceilings a target is {UNKNOWN}")
        # On a CPU the measured document is what first describes the platform in full.
        platform = ensure_platform(device)
    return platform
