"""The knowledge app: documents, the facts read from them, and the lines that prove them."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    label = "knowledge"

    def ready(self) -> None:
        from knowledge.curation.people import ensure_roles
        from knowledge.exchange.batches import register as register_kind
        from knowledge.exchange.confirm import WIKI
        from knowledge.experience.attempts.index import all_entries, all_tracks
        from knowledge.experience.catalogue.store import all_strategies
        from knowledge.experience.exchange.write import EXPERIENCE
        from knowledge.experience.lessons.weigh import all_gaps, all_lessons
        from knowledge.search.index import (
            all_documents,
            all_platforms,
            all_specs,
            fill_when_empty,
            register,
        )

        for source in (
            *(all_tracks, all_entries, all_lessons, all_gaps),
            *(all_strategies, all_platforms, all_specs, all_documents),
        ):
            register(source)
        register_kind(WIKI)
        register_kind(EXPERIENCE)
        post_migrate.connect(ensure_roles, sender=self)
        post_migrate.connect(fill_when_empty, sender=self)
