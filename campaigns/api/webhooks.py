"""Webhooks and deliveries, as the files of their pages write them; never with a secret."""

from __future__ import annotations

from rest_framework import serializers as fields

from campaigns.models import Delivery, Webhook
from knowledge.api.shapes import columns_of

WebhookSerializer = columns_of(
    "Webhook",
    Webhook,
    "id url kinds by created_at ended_at",
    kinds=fields.ListField(child=fields.CharField()),
    by=fields.CharField(source="by.username", allow_null=True, default=None),
)
DeliverySerializer = columns_of(
    "Delivery",
    Delivery,
    "id kind source word attempts status excerpt next_at by at ended_at body",
    "by: who asked for it again.",
    word=fields.CharField(),
    by=fields.CharField(source="by.username", allow_null=True, default=None),
)
