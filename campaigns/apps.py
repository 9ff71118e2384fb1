from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

# The roles of `knowledge.curation.people` that may start and change campaigns.
RUNS_CAMPAIGNS = ("engineer", "lead")
PERMISSIONS = ("add_campaign", "change_campaign")
# Those that decide about rounds and results of others.
DECIDES = ("engineer", "curator", "lead")
DECIDING = ("review_round",)


class CampaignsConfig(AppConfig):
    name = "campaigns"
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        """Load the tables of a feature that is a folder of its own, too."""
        super().import_models()
        import campaigns.repositories.models  # noqa: F401

    def ready(self) -> None:
        from campaigns.records.target.target_drift import uses_in_campaigns
        from campaigns.reports.found import all_rounds
        from campaigns.steps.review.discuss import register_subjects
        from knowledge.lookup.usage import register
        from knowledge.search.index import register as register_source

        post_migrate.connect(grant_campaign_permissions, sender=self)
        post_migrate.connect(learn_earlier_rounds, sender=self)
        register(uses_in_campaigns)
        register_source(all_rounds)
        register_subjects()


def grant_campaign_permissions(**signal: Any) -> None:
    """Give the groups of the roles their permissions; run after every migration."""
    from django.contrib.auth.models import Group, Permission

    from knowledge.curation.people import ROLES

    found = Permission.objects.filter(content_type__app_label="campaigns")
    for role in ROLES:
        group, _ = Group.objects.get_or_create(name=role)
        for roles, names in ((RUNS_CAMPAIGNS, PERMISSIONS), (DECIDES, DECIDING)):
            if role in roles:
                group.permissions.add(*found.filter(codename__in=names))


def learn_earlier_rounds(**signal: Any) -> None:
    """Take the rounds of before into the experience; run after `migrate`, with the newest tables.

    A flush sends the same signal, and a migration to an older state has other tables.
    """
    from django.db import connections
    from django.db.migrations.executor import MigrationExecutor

    from campaigns.steps.lifecycle.reconcile import catch_up

    if "plan" not in signal:
        return
    executor = MigrationExecutor(connections[signal["using"]])
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        catch_up(most=None)
