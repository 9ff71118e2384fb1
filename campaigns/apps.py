from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CampaignsConfig(AppConfig):
    name = "campaigns"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from campaigns.records.used_specs import uses_in_campaigns
        from campaigns.roles import ensure_roles
        from knowledge.lookup.usage import register

        post_migrate.connect(ensure_roles, sender=self)
        register(uses_in_campaigns)
