"""Atom feeds: campaigns, what happens in one, and what waits for a decision."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.syndication.views import Feed
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from campaigns.models import Campaign, Event
from campaigns.models.transitions import CampaignState
from campaigns.records.review_queue import rows_of_queue, waiting_in_all
from campaigns.views.lookup import campaign_at
from knowledge.curation.signed_addresses import by_key

MOST = 50
# XML 1.0 has no place for these; texts of candidates' logs can hold any.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One line of a feed. key: what stays the same when its words change."""

    key: str
    title: str
    text: str
    address: str
    at: datetime


class EntryFeed(Feed):  # type: ignore[type-arg]
    """What all three share; a feed says its title, its page and its entries."""

    feed_type = Atom1Feed

    def item_title(self, item: FeedEntry) -> str:
        return CONTROL.sub(" ", item.title)

    def item_description(self, item: FeedEntry) -> str:
        return CONTROL.sub(" ", item.text)

    def item_link(self, item: FeedEntry) -> str:
        return item.address

    def item_guid(self, item: FeedEntry) -> str:
        return f"urn:kopt:{item.key}"

    def item_pubdate(self, item: FeedEntry) -> datetime:
        return item.at

    def item_updateddate(self, item: FeedEntry) -> datetime:
        return item.at


class CampaignsFeed(EntryFeed):
    title = "kopt: campaigns"

    def link(self) -> str:
        return reverse("campaigns")

    def items(self) -> Iterable[FeedEntry]:
        rows = Campaign.objects.at_work().select_related("problem", "platform")
        changed = rows.annotate(changed_at=Max("events__at")).order_by("-changed_at", "-pk")
        for row in changed[:MOST]:
            state = CampaignState(row.state).label.lower()
            said = row.stop_sentence or f"It is {state}."
            at = getattr(row, "changed_at", None) or row.created_at
            yield FeedEntry(f"campaign:{row.pk}", row.title, said, row.get_absolute_url(), at)


class CampaignFeed(EntryFeed):
    def get_object(self, request: HttpRequest, campaign_id: int) -> Campaign:
        return campaign_at(campaign_id)

    def title(self, obj: Campaign) -> str:
        return f"kopt: {CONTROL.sub(' ', obj.title)}"

    def link(self, obj: Campaign) -> str:
        return obj.get_absolute_url()

    def items(self, obj: Campaign) -> Iterable[FeedEntry]:
        rows = Event.objects.filter(campaign=obj).select_related("round").order_by("-pk")
        for row in rows[:MOST]:
            page = (row.round or obj).get_absolute_url()
            title = row.kind.replace("_", " ")
            yield FeedEntry(f"event:{row.pk}", title, row.message, page, row.at)


class ReviewFeed(EntryFeed):
    title = "kopt: waiting for a decision"

    def link(self) -> str:
        return reverse("review")

    def items(self) -> Iterable[FeedEntry]:
        newest = sorted(waiting_in_all(), key=lambda one: one.since, reverse=True)[:MOST]
        return [
            FeedEntry(
                f"{row.waiting.kind}:{row.waiting.key}",
                row.title,
                f"{row.asks} {row.affects}".strip(),
                row.url,
                row.waiting.since,
            )
            for row in rows_of_queue(newest)
        ]


def _view(feed: EntryFeed) -> Any:
    @require_safe
    @by_key
    def view(request: HttpRequest, **named: Any) -> HttpResponse:
        return feed(request, **named)

    return view


campaigns_feed, campaign_feed, review_feed = map(
    _view, (CampaignsFeed(), CampaignFeed(), ReviewFeed())
)
