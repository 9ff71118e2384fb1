"""How far a gain is confirmed; the triggers that keep it; what else is measured after a round."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

SEALED = {"campaigns_standing": EVERY_ROW, "campaigns_standinganswer": EVERY_ROW}
LATE = (
    "NEW.state <> 'queued' OR (NEW.kind NOT IN ({kinds}) AND EXISTS "
    "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
    "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))"
)
BEFORE, AFTER = (
    refuse(TriggerEvent.INSERT, "late", {"campaigns_evaluation": LATE.format(kinds=kinds)})
    for kinds in ("'report'", "'report', 'reproduce'")
)


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0005_goal"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="card",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AlterField(
            model_name="evaluation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("baseline", "Baseline"),
                    ("screen", "Screen"),
                    ("decide", "Decide"),
                    ("remeasure", "Remeasure"),
                    ("report", "Report"),
                    ("reproduce", "Reproduce"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="round",
            name="state",
            field=models.CharField(
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
        migrations.CreateModel(
            name="Standing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("word", models.CharField(max_length=20)),
                ("sentence", models.TextField()),
                ("gain", models.FloatField(blank=True, null=True)),
                ("gain_low", models.FloatField(blank=True, null=True)),
                ("gain_high", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("interval_kind", models.CharField(blank=True, max_length=100)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standings",
                        to="campaigns.evaluation",
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
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="StandingAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "answer",
                    models.CharField(
                        choices=[
                            ("relied_on", "relied on all the same"),
                            ("not_relied_on", "not to be relied on"),
                        ],
                        max_length=20,
                    ),
                ),
                ("why", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "standing",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answer",
                        to="campaigns.standing",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="standing",
            constraint=models.UniqueConstraint(
                fields=("round", "word"), name="one_standing_per_word"
            ),
        ),
        refuse(TriggerEvent.UPDATE, "sealed", SEALED),
        refuse(TriggerEvent.DELETE, "kept", SEALED),
        migrations.RunPython(BEFORE.reverse_code, BEFORE.code),
        AFTER,
    ]
