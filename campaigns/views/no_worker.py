"""A campaign that nothing can run yet says so before and when it is confirmed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest

from campaigns.models import Campaign
from campaigns.views.offer import no_worker


def warning_of(campaign: Campaign) -> str:
    """That no worker of its platform is alive; "" where one is, or where the campaign is over."""
    workers = campaign.platform.workers.all()
    served = campaign.is_finished or any(worker.is_alive for worker in workers)
    return "" if served else no_worker(campaign.platform)


def warn_of_no_worker(request: HttpRequest, campaign: Campaign) -> None:
    """Beside the sentence that something was done."""
    if warning := warning_of(campaign):
        messages.warning(request, warning)
