"""A campaign that nothing can run yet says so when it is confirmed or resumed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest

from campaigns.models import Campaign
from campaigns.records.device_waits import no_worker_of


def warn_of_no_worker(request: HttpRequest, campaign: Campaign) -> None:
    """Beside the sentence that something was done."""
    if warning := no_worker_of(campaign):
        messages.warning(request, warning)
