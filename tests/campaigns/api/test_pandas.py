"""pandas reads the lists over real HTTP, with a token and without a session."""

import pandas
import pytest
from django.contrib.auth.models import User

from campaigns.models import Evaluation, Round
from knowledge.curation.tokens import new_token
from tests.browser import conftest
from tests.campaigns.sample import build_sample

static_root = conftest.static_root


@pytest.mark.django_db(transaction=True)
def test_pandas_reads_rounds_and_samples_with_a_token(live_server):
    campaign = build_sample(rounds=4)
    _, text = new_token(User.objects.create_user("ada"), "notebook", [])
    token = {"Authorization": f"Bearer {text}"}
    url = f"{live_server.url}/api/v1/"
    rounds = pandas.read_csv(
        f"{url}rounds/?campaign={campaign.pk}&format=csv", storage_options=token
    )
    assert len(rounds) == Round.objects.filter(campaign=campaign).count()
    assert rounds["gain.low"].dtype == float
    measured = Evaluation.objects.filter(outcome="passed").first()
    samples = pandas.read_json(
        f"{url}evaluations/{measured.pk}/samples/?format=jsonl", lines=True, storage_options=token
    )
    assert set(samples.columns) == {"case", "arm", "pair", "time_us"}
    assert (samples["time_us"] > 0).all()
