"""No table of a campaign, a problem or what was learnt is forgotten by the one filter."""

import inspect
import re
import sys

import pytest
from django.apps import apps
from django.db.models import QuerySet
from django.urls import get_resolver

from knowledge.models.sight import SeenManager

# Its key is a campaign's or a round's, and it is read with its subject alone.
BESIDE = {"Comment", "ProjectWork", "SearchRow"}
OURS = ("campaigns", "knowledge")
MODELS = [model for app in OURS for model in apps.get_app_config(app).get_models()]


def hides(model):
    return bool(getattr(model, "HIDDEN_WITH", ()))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_what_hangs_on_something_hidden_is_hidden_with_it(model):
    related = {f.related_model for f in model._meta.fields if f.is_relation} - {model}
    bare = {"campaign", "problem", "project"} & {
        f.name for f in model._meta.fields if not f.is_relation
    }
    if (bare or any(map(hides, related))) and model.__name__ not in BESIDE:
        assert hides(model)
    if hides(model):
        assert isinstance(model._default_manager, SeenManager)


def test_rows_that_are_named_before_anybody_asks_are_filtered_by_their_view():
    """A query set that a module makes when it is imported has no eyes."""
    assert get_resolver().url_patterns  # imports every door
    for name, module in [*sys.modules.items()]:
        if not name.startswith(OURS) or module is None:
            continue
        rows = {
            key for key, value in vars(module).items()
            if isinstance(value, QuerySet) and hides(value.model)
        }  # fmt: skip
        for key in rows:
            used = rf"get_object_or_404\({key}\b|(?<!seen\(){key}\)?\.(get|filter|all|first)\("
            assert not re.search(used, inspect.getsource(module)), f"{name}.{key}"
