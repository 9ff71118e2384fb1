"""What the log of a campaign said beside a table of its own stands in the log alone.

Reviews, restarts, unmaskings, placeholders, pitfalls and answers to a standing were rows beside an
event that told of them: their fields move into that event. A void measurement, a request for a
passport and the files of an imported trail move into the row that they belong to.
"""

from collections import defaultdict
from itertools import zip_longest

import django.db.models.deletion
import django.db.models.fields.json
from django.conf import settings
from django.db import migrations, models

from knowledge.models.triggers import EVERY_ROW, TriggerEvent, refuse

HELD = {
    "campaigns_event": EVERY_ROW,
    "campaigns_evaluation": "OLD.state = 'done'",
    "campaigns_importedcampaign": "OLD.sealed",
    "campaigns_passport": EVERY_ROW,
}
# SQLite makes a table anew to change it, and refuses that while a trigger elsewhere names it.
TRIGGERS = [
    refuse(TriggerEvent.UPDATE, "sealed", HELD),
    refuse(TriggerEvent.DELETE, "kept", HELD),
    refuse(
        TriggerEvent.INSERT,
        "late",
        {
            "campaigns_evaluation": "NEW.state <> 'queued' OR (NEW.kind NOT IN ('report', "
            "'reproduce', 'eager', 'compile', 'compile-max-autotune', 'library') AND EXISTS "
            "(SELECT 1 FROM campaigns_round r JOIN campaigns_candidate c ON c.round_id = r.id "
            "WHERE c.id = NEW.candidate_id AND r.state = 'closed'))",
            "campaigns_importedround": "EXISTS (SELECT 1 FROM campaigns_importedcampaign c "
            "WHERE c.id = NEW.campaign_id AND c.sealed)",
        },
    ),
]
# Of tables that go; only their names count, as these triggers are not made again.
ONCE_LATE = ("pitfall", "placeholder", "review", "restart", "unmasking", "importedfile")
ONCE_HELD = (*ONCE_LATE, "passportwish", "standinganswer", "void")
GONE = [
    refuse(event, mark, dict.fromkeys((f"campaigns_{table}" for table in tables), EVERY_ROW))
    for event, mark, tables in (
        (TriggerEvent.UPDATE, "sealed", ONCE_HELD),
        (TriggerEvent.DELETE, "kept", ONCE_HELD),
        (TriggerEvent.INSERT, "late", ONCE_LATE),
    )
]
OPEN = [migrations.RunPython(each.reverse_code, each.code) for each in (*TRIGGERS, *GONE)]
LATE = (
    "(NEW.kind IN ('reviewed', 'restart', 'unmasked') AND EXISTS (SELECT 1 FROM campaigns_campaign "
    "c WHERE c.id = NEW.campaign_id AND c.state IN ('done', 'aborted'))) OR "
    "(NEW.kind = 'placeholder' AND EXISTS (SELECT 1 FROM campaigns_campaign c "
    "WHERE c.id = NEW.campaign_id AND c.state <> 'draft'))"
)
# Table of its own, kind of its event, the fields that move.
INTO_EVENTS = (
    ("Review", "reviewed", ("after", "streak", "failures", "directions", "note")),
    ("Restart", "restart", ("after", "answer", "why", "seed", "masked")),
    ("Unmasking", "unmasked", ("number",)),
    ("Placeholder", "placeholder", ("question", "value", "unit", "shown", "reason")),
    ("StandingAnswer", "standing_answered", ("standing_id", "answer", "why")),
)
USER = models.ForeignKey(
    blank=True,
    null=True,
    on_delete=django.db.models.deletion.PROTECT,
    related_name="+",
    to=settings.AUTH_USER_MODEL,
)


def move(apps, schema_editor):
    for name, kind, fields in INTO_EVENTS:
        _into_events(apps, name, kind, fields)
    _pitfalls(apps)
    evaluations = apps.get_model("campaigns", "Evaluation").objects
    for void in apps.get_model("campaigns", "Void").objects.all():
        evaluations.filter(pk=void.evaluation_id).update(
            void=void.sentence, void_reasons=void.found
        )
    workers = apps.get_model("campaigns", "Worker").objects
    newest = {wish.worker_id: wish for wish in _rows(apps, "PassportWish")}
    for worker, wish in newest.items():
        if not wish.passports.exists():
            workers.filter(pk=worker).update(asked_at=wish.asked_at, asked_by=wish.asked_by_id)
    for trail in _rows(apps, "ImportedCampaign"):
        trail.files = dict(trail.old_files.order_by("path").values_list("path", "text"))
        trail.save(update_fields=["files"])


def _rows(apps, name):
    return apps.get_model("campaigns", name).objects.order_by("pk")


def _into_events(apps, name, kind, fields):
    """Each row and its event were written together, so the first belongs to the first."""
    rows, events = defaultdict(list), defaultdict(list)
    for row in _rows(apps, name):
        owner = row.standing.round.campaign_id if name == "StandingAnswer" else row.campaign_id
        rows[owner].append(row)
    for event in _rows(apps, "Event").filter(kind=kind):
        events[event.campaign_id].append(event)
    for campaign, own in rows.items():
        for row, event in zip_longest(own, events[campaign][: len(own)]):
            data = {field.removesuffix("_id"): getattr(row, field) for field in fields}
            by = getattr(row, "by_id", None) or getattr(row, "allowed_by_id", None)
            _write(apps, event, data, campaign_id=campaign, kind=kind, at=row.at, by=by)


def _write(apps, event, data, **new):
    """Into the event, or into a new one where an old kopt wrote none."""
    rows = _rows(apps, "Event")
    at, by = new.pop("at"), new.pop("by")
    if event is None:
        event = rows.create(**new, message=new["kind"])
        rows.filter(pk=event.pk).update(at=at)
    rows.filter(pk=event.pk).update(data={**event.data, **data}, by=by)


def _pitfalls(apps):
    found = defaultdict(list)
    for row in _rows(apps, "Pitfall"):
        found[row.campaign_id].append(row)
    for campaign, own in found.items():
        event = _rows(apps, "Event").filter(campaign=campaign, kind="target_set").last()
        fields = ("kind", "message", "how_to_obtain")
        data = {"pitfalls": [{field: getattr(row, field) for field in fields} for row in own]}
        new = {"campaign_id": campaign, "kind": "target_set", "at": own[0].at, "by": None}
        _write(apps, event, data, **new)


def once_per(field, kind, name):
    return migrations.AddConstraint(
        "event",
        models.UniqueConstraint(
            models.F("campaign"),
            django.db.models.fields.json.KT(f"data__{field}"),
            condition=models.Q(("kind", kind)),
            name=name,
        ),
    )


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0026_answer_never_varies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        *OPEN,
        migrations.AddField("event", "by", USER),
        migrations.AddField("evaluation", "void", models.TextField(blank=True)),
        migrations.AddField("evaluation", "void_reasons", models.JSONField(default=list)),
        migrations.AddField("worker", "asked_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("worker", "asked_by", USER.clone()),
        migrations.AlterField(
            "importedfile",
            "campaign",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="old_files",
                to="campaigns.importedcampaign",
            ),
        ),
        migrations.AddField("importedcampaign", "files", models.JSONField(default=dict)),
        migrations.RunPython(move),
        migrations.RemoveField("passport", "answers"),
        *(
            migrations.DeleteModel(name)
            for name in (
                *("Void", "PassportWish", "ImportedFile", "Pitfall"),
                *(name for name, _, _ in INTO_EVENTS),
            )
        ),
        migrations.AddConstraint(
            "event",
            models.UniqueConstraint(
                condition=models.Q(("kind", "restart")), fields=("campaign",), name="one_restart"
            ),
        ),
        once_per("after", "reviewed", "one_review_per_round"),
        once_per("number", "unmasked", "one_unmasking_per_round"),
        once_per("question", "placeholder", "one_placeholder_per_question"),
        once_per("standing", "standing_answered", "one_answer_per_standing"),
        *(
            migrations.CreateModel(
                name,
                fields=[],
                options={"proxy": True, "indexes": [], "constraints": []},
                bases=("campaigns.event",),
            )
            for name, _, _ in INTO_EVENTS
        ),
        *TRIGGERS,
        refuse(TriggerEvent.INSERT, "late", {"campaigns_event": LATE}),
    ]
