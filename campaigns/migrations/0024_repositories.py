"""Repositories that are optimised by their own harness, and their rounds."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

ROWS = {
    "campaigns_repository": "OLD.state = 'stopped'",
    "campaigns_repositoryround": "OLD.state = 'done'",
}
LATE = {
    "campaigns_repositoryround": "EXISTS (SELECT 1 FROM campaigns_repository r "
    "WHERE r.id = NEW.repository_id AND r.state = 'stopped')"
}


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0023_not_judged"),
        ("knowledge", "0014_tokens"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Repository",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=60)),
                ("source", models.CharField(max_length=300)),
                ("harness", models.TextField()),
                ("base", models.CharField(blank=True, max_length=64)),
                ("head", models.CharField(blank=True, max_length=64)),
                ("branch", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("stopped", "Stopped")],
                        default="open",
                        max_length=20,
                    ),
                ),
                ("stop_sentence", models.TextField(blank=True)),
                ("noise", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "platform",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repositories",
                        to="knowledge.platform",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "repositories",
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="RepositoryRound",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("change", models.TextField(blank=True)),
                ("rationale", models.TextField(blank=True)),
                ("target", models.CharField(blank=True, max_length=300)),
                ("patch", models.TextField(blank=True)),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[("person", "Person"), ("agent", "Agent")],
                        max_length=20,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=150)),
                ("against", models.CharField(blank=True, max_length=64)),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("phase", models.CharField(blank=True, max_length=100)),
                ("claims", models.PositiveIntegerField(default=0)),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("promoted", "promoted"),
                            ("baseline", "baseline"),
                            ("within_noise", "within_noise"),
                            ("too_few_samples", "too_few_samples"),
                            ("too_short", "too_short"),
                            ("needs_second_session", "needs_second_session"),
                            ("not_repeated", "not_repeated"),
                            ("sessions_disagree", "sessions_disagree"),
                            ("slower", "slower"),
                            ("case_regressed", "case_regressed"),
                            ("class_regressed", "class_regressed"),
                            ("class_not_gained", "class_not_gained"),
                            ("finding_refused", "finding_refused"),
                            ("wrong_result", "wrong_result"),
                            ("build_failed", "build_failed"),
                            ("crashed", "crashed"),
                            ("timed_out", "timed_out"),
                            ("cheated", "cheated"),
                            ("sanitizer", "sanitizer"),
                            ("not_sanitized", "not_sanitized"),
                            ("above_roof", "above_roof"),
                            ("ceiling_too_low", "ceiling_too_low"),
                            ("precision_changed", "precision_changed"),
                            ("broken_host", "broken_host"),
                            ("not_judged", "not_judged"),
                            ("device_time_disagrees", "device_time_disagrees"),
                            ("no_device_time", "no_device_time"),
                            ("not_its_own_kernel", "not_its_own_kernel"),
                            ("not_timed", "not_timed"),
                            ("no_transfer", "no_transfer"),
                            ("fitted_to_the_benchmark", "fitted_to_the_benchmark"),
                            ("needs_full_level", "needs_full_level"),
                        ],
                        max_length=40,
                    ),
                ),
                ("sentence", models.TextField(blank=True)),
                ("result", models.JSONField(default=dict)),
                ("proven", models.JSONField(default=dict)),
                ("log", models.TextField(blank=True)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "repairs",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mended",
                        to="campaigns.repositoryround",
                    ),
                ),
                (
                    "repository",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="campaigns.repository",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="campaigns.worker",
                    ),
                ),
            ],
            options={
                "ordering": ("repository", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("repository", "number"), name="one_repository_round_number"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("repository",),
                        name="one_running_repository_round",
                    ),
                ],
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", ROWS),
        refuse(TriggerEvent.DELETE, "kept", dict.fromkeys(ROWS, EVERY_ROW)),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
