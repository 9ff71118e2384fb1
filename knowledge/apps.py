"""The knowledge app: documents, the facts read from them, and the lines that prove them."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    label = "knowledge"

    def ready(self) -> None:
        from knowledge.curation.people import ensure_roles

        post_migrate.connect(ensure_roles, sender=self)
