"""All tables of campaigns as they were on 27 November 2026; what came later follows."""

import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.fields.json
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

WRITTEN_ONCE = (
    *("candidate", "case", "commit", "event", "evidence", "importedround", "passport", "phase"),
    *("problem", "protocol", "repair", "standing", "submission", "sweep", "sweeppoint", "verdict"),
)
ROWS = {f"campaigns_{table}": EVERY_ROW for table in WRITTEN_ONCE}
ENDED = {
    "campaigns_devicewait": "OLD.ended_at IS NOT NULL",
    "campaigns_evaluation": "OLD.state = 'done'",
    "campaigns_importedcampaign": "OLD.sealed",
    "campaigns_round": "OLD.state = 'closed'",
}
STOPPED = {
    "campaigns_repository": "OLD.state = 'stopped'",
    "campaigns_repositoryround": "OLD.state = 'done'",
}
ALL_ROWS = ("campaign", "repository", "repositoryround")
# What a campaign is judged by stands once it is confirmed (R1).
AGREED = (
    *("problem_id", "platform_id", "protocol_id", "backend", "cases", "proposer", "stop_policy"),
    *("goal", "findings_policy", "seed", "created_by_id"),
)


def once_confirmed(*columns):
    """Neither database has an operator for this that the other one has, too."""
    changed = "NEW.{0} <> OLD.{0} OR (NEW.{0} IS NULL) <> (OLD.{0} IS NULL)"
    return {
        "campaigns_campaign": "OLD.state <> 'draft' AND "
        f"({' OR '.join(changed.format(name) for name in columns)})"
    }


CLOSED = "EXISTS (SELECT 1 FROM campaigns_round r WHERE r.id = NEW.round_id AND r.state = 'closed')"
FINISHED = (
    "EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))"
)
LATE = {
    "campaigns_campaign": "NEW.state <> 'draft'",
    "campaigns_candidate": CLOSED,
    "campaigns_commit": "NOT EXISTS (SELECT 1 FROM campaigns_round r "
    "JOIN campaigns_verdict v ON v.round_id = r.id "
    "WHERE r.id = NEW.round_id AND r.state = 'closed' AND v.word = 'accepted')",
    "campaigns_evaluation": "NEW.state <> 'queued' OR (NEW.kind NOT IN ('report', 'reproduce', "
    "'eager', 'compile', 'compile-max-autotune', 'library') AND EXISTS "
    "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
    "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))",
    "campaigns_event": f"(NEW.kind IN ('reviewed', 'restart', 'unmasked') AND {FINISHED}) OR "
    "(NEW.kind = 'placeholder' AND EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state <> 'draft'))",
    "campaigns_evidence": FINISHED,
    "campaigns_importedround": "EXISTS (SELECT 1 FROM campaigns_importedcampaign c "
    "WHERE c.id = NEW.campaign_id AND c.sealed)",
    "campaigns_repair": CLOSED,
    "campaigns_repositoryround": "EXISTS (SELECT 1 FROM campaigns_repository r "
    "WHERE r.id = NEW.repository_id AND r.state = 'stopped')",
    "campaigns_round": f"NEW.state <> 'open' OR {FINISHED}",
    "campaigns_submission": FINISHED,
}


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("knowledge", "0001_squashed_0018_one_table_of_imports"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="Problem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField()),
                ("digest", models.CharField(max_length=64)),
                ("title", models.CharField(max_length=200)),
                ("op", models.CharField(max_length=60)),
                ("dtype", models.CharField(max_length=20)),
                ("summary", models.TextField(blank=True)),
                ("files", models.JSONField()),
                ("backends", models.JSONField()),
                ("tolerance", models.JSONField()),
                ("config_class", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("slug", "-created_at"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("slug", "digest"), name="one_row_per_problem_version"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "problem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cases",
                        to="campaigns.problem",
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("params", models.JSONField()),
                ("device_kinds", models.JSONField(default=list)),
                ("protected", models.BooleanField(default=True)),
                ("ordinal", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ("ordinal",),
                "constraints": [
                    models.UniqueConstraint(fields=("problem", "name"), name="one_case_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="Protocol",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("rules", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120, unique=True)),
                ("host", models.CharField(max_length=120)),
                ("pid", models.PositiveIntegerField()),
                ("device", models.CharField(max_length=40)),
                ("card", models.CharField(blank=True, max_length=200)),
                (
                    "platform",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workers",
                        to="knowledge.platform",
                    ),
                ),
                ("versions", models.JSONField(default=dict)),
                ("started_at", models.DateTimeField()),
                ("heartbeat_at", models.DateTimeField()),
                ("asked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="ImportedCampaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("system", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=200)),
                ("title", models.TextField(blank=True)),
                ("operator", models.TextField(blank=True)),
                ("platform", models.TextField(blank=True)),
                ("backend", models.TextField(blank=True)),
                ("incumbent", models.TextField(blank=True)),
                ("stop_reason", models.TextField(blank=True)),
                ("facts", models.JSONField(default=list)),
                ("tips", models.JSONField(default=list)),
                ("missing", models.JSONField(default=list)),
                ("left_out", models.JSONField(default=list)),
                ("files", models.JSONField(default=dict)),
                ("sealed", models.BooleanField(default=False)),
                (
                    "imported_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("imported_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="ImportedRound",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="campaigns.importedcampaign",
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("number", models.BigIntegerField(blank=True, null=True)),
                ("name", models.TextField()),
                ("title", models.TextField(blank=True)),
                ("hypothesis", models.TextField(blank=True)),
                ("rationale", models.TextField(blank=True)),
                ("status", models.TextField(blank=True)),
                ("kept", models.BooleanField(null=True)),
                ("masked", models.BooleanField(null=True)),
                ("figure", models.FloatField(null=True)),
                ("unit", models.TextField(blank=True)),
                ("metric", models.TextField(blank=True)),
                ("convention", models.TextField(blank=True)),
                ("amends", models.TextField(blank=True)),
                ("path", models.TextField()),
                ("line", models.PositiveIntegerField()),
                ("kernel", models.TextField(blank=True)),
                ("at", models.TextField(blank=True)),
                ("claims", models.JSONField(default=list)),
                ("missing", models.JSONField(default=list)),
            ],
            options={
                "ordering": ("campaign", "ordinal"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "ordinal"), name="one_imported_ordinal"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Passport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="passports",
                        to="campaigns.worker",
                    ),
                ),
                ("card", models.CharField(max_length=200)),
                ("device", models.CharField(max_length=40)),
                ("backend", models.CharField(max_length=40)),
                ("why", models.CharField(max_length=300)),
                ("host", models.JSONField(default=dict)),
                ("lengths", models.JSONField(default=list)),
                ("conditions", models.JSONField(default=dict)),
                ("failures", models.JSONField(default=list)),
                ("reports", models.JSONField(default=list)),
                ("error", models.TextField(blank=True)),
                ("wall_s", models.FloatField(default=0.0)),
                ("taken_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
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
                    "platform",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repositories",
                        to="knowledge.platform",
                    ),
                ),
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
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                (
                    "repository",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="campaigns.repository",
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
                    "repairs",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mended",
                        to="campaigns.repositoryround",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[("person", "Person"), ("agent", "Agent")],
                        max_length=20,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=150)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("against", models.CharField(blank=True, max_length=64)),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("phase", models.CharField(blank=True, max_length=100)),
                ("claims", models.PositiveIntegerField(default=0)),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="campaigns.worker",
                    ),
                ),
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
                            ("answer_never_varies", "answer_never_varies"),
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
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                (
                    "problem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="campaigns.problem"
                    ),
                ),
                (
                    "platform",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="knowledge.platform"
                    ),
                ),
                (
                    "protocol",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="campaigns.protocol"
                    ),
                ),
                ("backend", models.CharField(max_length=40)),
                ("cases", models.JSONField(default=list)),
                ("proposer", models.CharField(default="search", max_length=40)),
                ("proposers", models.JSONField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("confirmed", "Confirmed"),
                            ("prepare", "Prepare"),
                            ("baseline", "Baseline"),
                            ("profile", "Profile"),
                            ("analyze", "Analyze"),
                            ("awaiting", "Awaiting"),
                            ("implement", "Implement"),
                            ("validate", "Validate"),
                            ("repair", "Repair"),
                            ("decide", "Decide"),
                            ("stagnation", "Stagnation"),
                            ("restart", "Restart"),
                            ("report", "Report"),
                            ("paused", "Paused"),
                            ("done", "Done"),
                            ("aborted", "Aborted"),
                        ],
                        default="draft",
                        max_length=20,
                    ),
                ),
                ("paused_from", models.CharField(blank=True, max_length=20)),
                ("pause_requested", models.BooleanField(default=False)),
                ("stop_requested", models.BooleanField(default=False)),
                ("stop_policy", models.JSONField(default=dict)),
                ("stop_reason", models.CharField(blank=True, max_length=40)),
                ("stop_sentence", models.TextField(blank=True)),
                ("goal", models.JSONField(blank=True, null=True)),
                ("target", models.JSONField(default=dict)),
                ("findings_policy", models.JSONField(blank=True, null=True)),
                ("own_kernels", models.JSONField(blank=True, null=True)),
                ("intake", models.JSONField(blank=True, null=True)),
                ("noise", models.JSONField(default=dict)),
                ("result", models.JSONField(default=dict)),
                ("seed", models.BigIntegerField()),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="Phase",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="phases",
                        to="campaigns.campaign",
                    ),
                ),
                ("state", models.CharField(max_length=20)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="DeviceWait",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="device_waits",
                        to="campaigns.campaign",
                    ),
                ),
                ("is_reproduction", models.BooleanField(default=False)),
                ("since", models.DateTimeField()),
                ("looked_at", models.DateTimeField()),
                (
                    "cause",
                    models.CharField(choices=[("busy", "Busy"), ("held", "Held")], max_length=20),
                ),
                ("why", models.TextField()),
                ("device", models.CharField(max_length=40)),
                ("worker", models.CharField(max_length=120)),
                ("card", models.CharField(blank=True, max_length=200)),
                ("waited_s", models.FloatField(default=0.0)),
                ("look_at", models.DateTimeField()),
                ("pause_at", models.DateTimeField(blank=True, null=True)),
                ("looks", models.JSONField(default=dict)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("campaign", "is_reproduction"),
                        name="one_open_device_wait",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to="campaigns.campaign",
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("message", models.TextField()),
                ("data", models.JSONField(default=dict)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "restart")),
                        fields=("campaign",),
                        name="one_restart",
                    ),
                    models.UniqueConstraint(
                        models.F("campaign"),
                        django.db.models.fields.json.KeyTextTransform("after", "data"),
                        condition=models.Q(("kind", "reviewed")),
                        name="one_review_per_round",
                    ),
                    models.UniqueConstraint(
                        models.F("campaign"),
                        django.db.models.fields.json.KeyTextTransform("number", "data"),
                        condition=models.Q(("kind", "unmasked")),
                        name="one_unmasking_per_round",
                    ),
                    models.UniqueConstraint(
                        models.F("campaign"),
                        django.db.models.fields.json.KeyTextTransform("question", "data"),
                        condition=models.Q(("kind", "placeholder")),
                        name="one_placeholder_per_question",
                    ),
                    models.UniqueConstraint(
                        models.F("campaign"),
                        django.db.models.fields.json.KeyTextTransform("standing", "data"),
                        condition=models.Q(("kind", "standing_answered")),
                        name="one_answer_per_standing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Review",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="Restart",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="Unmasking",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="Placeholder",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="StandingAnswer",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("campaigns.event",),
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="campaigns.campaign",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("baseline", "Baseline"),
                            ("attempt", "Attempt"),
                            ("sweep", "Sweep"),
                            ("split", "Split"),
                        ],
                        default="attempt",
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("screened", "Screened"),
                            ("claimed", "Claimed"),
                            ("judged", "Judged"),
                            ("closed", "Closed"),
                        ],
                        default="open",
                        max_length=20,
                    ),
                ),
                ("hypothesis", models.JSONField(default=dict)),
                ("split", models.JSONField(blank=True, null=True)),
                ("draft", models.JSONField(blank=True, null=True)),
                ("opened_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("campaign", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "number"), name="one_round_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "closed"), _negated=True),
                        fields=("campaign",),
                        name="one_open_round_per_campaign",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="event",
            name="round",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="events",
                to="campaigns.round",
            ),
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="candidates",
                        to="campaigns.round",
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("label", models.CharField(max_length=200)),
                ("file_name", models.CharField(max_length=100)),
                ("text", models.TextField()),
                ("flags", models.JSONField(default=list)),
                ("params", models.JSONField(default=dict)),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("findings", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("round", "ordinal"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("round", "ordinal"), name="one_candidate_ordinal"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="campaign",
            name="incumbent",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="campaigns.candidate",
            ),
        ),
        migrations.AddField(
            model_name="round",
            name="against",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="campaigns.candidate",
            ),
        ),
        migrations.AddField(
            model_name="round",
            name="chosen",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="campaigns.candidate",
            ),
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submissions",
                        to="campaigns.campaign",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("person", "Person"), ("agent", "Agent")], max_length=20
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("hypothesis", models.JSONField()),
                (
                    "against",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.candidate",
                    ),
                ),
                ("file_name", models.CharField(max_length=100)),
                ("text", models.TextField()),
                ("flags", models.JSONField(default=list)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.AddField(
            model_name="round",
            name="submission",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rounds",
                to="campaigns.submission",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(
                condition=models.Q(("submission__isnull", False)),
                fields=("submission",),
                name="one_round_per_submission",
            ),
        ),
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evaluations",
                        to="campaigns.candidate",
                    ),
                ),
                (
                    "against",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.candidate",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("baseline", "Baseline"),
                            ("screen", "Screen"),
                            ("sweep", "Sweep"),
                            ("share", "Share"),
                            ("build", "Build"),
                            ("decide", "Decide"),
                            ("remeasure", "Remeasure"),
                            ("report", "Report"),
                            ("reproduce", "Reproduce"),
                            ("eager", "Eager"),
                            ("compile", "Compile"),
                            ("compile-max-autotune", "Compile Max"),
                            ("library", "Library"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("attempt", models.PositiveIntegerField(default=1)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="campaigns.worker",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("passed", "passed"),
                            ("build_failed", "build_failed"),
                            ("wrong_result", "wrong_result"),
                            ("cheated", "cheated"),
                            ("crashed", "crashed"),
                            ("timed_out", "timed_out"),
                            ("broken_host", "broken_host"),
                            ("not_judged", "not_judged"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("report", models.JSONField(default=dict)),
                ("void", models.TextField(blank=True)),
                ("void_reasons", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("candidate", "kind", "attempt"), name="one_evaluation_per_attempt"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Repair",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repairs",
                        to="campaigns.round",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "failed",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repair",
                        to="campaigns.evaluation",
                    ),
                ),
                (
                    "candidate",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="repair",
                        to="campaigns.candidate",
                    ),
                ),
                ("why", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("round", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("round", "number"), name="one_repair_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="campaigns.campaign",
                    ),
                ),
                (
                    "incumbent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="campaigns.candidate",
                    ),
                ),
                ("after", models.PositiveIntegerField()),
                ("sessions", models.PositiveIntegerField()),
                ("facts", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "evidence",
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "incumbent", "after"), name="one_evidence_per_round"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="round",
            name="evidence",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rounds",
                to="campaigns.evidence",
            ),
        ),
        migrations.CreateModel(
            name="Sweep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sweep",
                        to="campaigns.round",
                    ),
                ),
                ("knobs", models.JSONField()),
                ("size", models.CharField(max_length=60)),
                ("strategy", models.CharField(max_length=40)),
                ("seed", models.PositiveBigIntegerField(default=0)),
                ("seeds", models.JSONField(default=list)),
                ("most_points", models.PositiveIntegerField()),
                ("most_s", models.FloatField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="SweepPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sweep",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="points",
                        to="campaigns.sweep",
                    ),
                ),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="points",
                        to="campaigns.evaluation",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("params", models.JSONField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("passed", "passed"),
                            ("build_failed", "build_failed"),
                            ("wrong_result", "wrong_result"),
                            ("cheated", "cheated"),
                            ("crashed", "crashed"),
                            ("timed_out", "timed_out"),
                            ("broken_host", "broken_host"),
                            ("not_judged", "not_judged"),
                            ("pruned", "pruned"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("time_us", models.FloatField(blank=True, null=True)),
                ("times_us", models.JSONField(default=dict)),
                ("ended_early", models.BooleanField(default=False)),
                ("facts", models.JSONField(default=dict)),
                ("build_s", models.FloatField(default=0.0)),
                ("screen_s", models.FloatField(default=0.0)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("sweep", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("sweep", "number"), name="one_sweep_point_number"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SweepOrder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sweep",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="campaigns.sweep",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("params", models.JSONField()),
                ("source", models.TextField()),
                (
                    "evaluation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.evaluation",
                    ),
                ),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("built", models.TextField(blank=True)),
                ("screened", models.TextField(blank=True)),
                ("digest", models.CharField(blank=True, max_length=40)),
                ("artefact", models.BinaryField(null=True)),
            ],
            options={
                "ordering": ("sweep", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("sweep", "number"), name="one_sweep_order_number"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verdict",
                        to="campaigns.round",
                    ),
                ),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verdicts",
                        to="campaigns.evaluation",
                    ),
                ),
                ("word", models.CharField(max_length=30)),
                ("reason", models.CharField(max_length=40)),
                ("sentence", models.TextField()),
                ("gain", models.FloatField(blank=True, null=True)),
                ("gain_low", models.FloatField(blank=True, null=True)),
                ("gain_high", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("interval_kind", models.CharField(blank=True, max_length=100)),
                ("gates", models.JSONField(default=list)),
                ("cases", models.JSONField(default=list)),
                ("classes", models.JSONField(blank=True, null=True)),
                ("noise", models.JSONField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Standing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standings",
                        to="campaigns.round",
                    ),
                ),
                ("word", models.CharField(max_length=20)),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standings",
                        to="campaigns.evaluation",
                    ),
                ),
                ("sentence", models.TextField()),
                ("gain", models.FloatField(blank=True, null=True)),
                ("gain_low", models.FloatField(blank=True, null=True)),
                ("gain_high", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("interval_kind", models.CharField(blank=True, max_length=100)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(fields=("round", "word"), name="one_standing_per_word")
                ],
            },
        ),
        migrations.CreateModel(
            name="Commit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="commit",
                        to="campaigns.round",
                    ),
                ),
                ("branch", models.CharField(max_length=200)),
                ("sha", models.CharField(max_length=40)),
                ("message", models.TextField()),
                ("source", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        refuse(TriggerEvent.UPDATE, "sealed", ROWS | ENDED | STOPPED),
        refuse(
            TriggerEvent.UPDATE,
            "finished",
            {"campaigns_campaign": "OLD.state IN ('done', 'aborted')"},
        ),
        refuse(TriggerEvent.UPDATE, "frozen", once_confirmed(*AGREED)),
        *(
            refuse(TriggerEvent.UPDATE, mark, once_confirmed(column))
            for mark, column in (
                ("declared", "own_kernels"),
                ("intake", "intake"),
                ("proposing", "proposers"),
            )
        ),
        refuse(
            TriggerEvent.DELETE,
            "kept",
            ROWS | ENDED | {f"campaigns_{table}": EVERY_ROW for table in ALL_ROWS},
        ),
        refuse(TriggerEvent.INSERT, "late", LATE),
    ]
