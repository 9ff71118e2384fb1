"""Every page of the site, of problems and of an account, at a desk and on a phone."""

import pytest

from campaigns.models import Evaluation, EvaluationKind, SeriesEntry, Worker
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.series import queue_campaigns, sort_measured
from tests.browser.look import ONE_OF_EACH, look_at, look_at_all, unseen
from tests.campaigns import finished as ended
from tests.campaigns.sample import build_sample
from tests.campaigns.steps import cast
from tests.campaigns.swept import ROUND, build_swept
from tests.campaigns.views.test_formats import filled, keys_of, pages
from tests.campaigns.views.test_workers import passport

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADDRESSES = {
    "own home": "/",
    "review": "/review/",
    "events": "/events/",
    "jobs": "/jobs/",
    "team": "/team/",
    "audit": "/audit/",
    "me": "/me/",
    "projects": "/projects/",
    "shortcuts": "/shortcuts/",
    "go to": "/palette",
    "workers": "/workers/",
    "problem": "/p/softmax/",
    "new problem": "/p/new",
    "import a definition": "/p/import",
    "new campaign": "/c/new",
    "imports": "/c/imported/",
    "repositories": "/repositories/",
    "new repository": "/repositories/new",
    "tokens": "/tokens/",
    "API": "/api/",
}


def one_of_each(campaign, running, folder):
    """Pages that are about one row of their own: name → address."""
    keys, worker = keys_of(campaign, running), Worker.objects.create(
        name="w", host="h", device="cpu", platform=campaign.platform, pid=1,
        started_at=campaign.created_at, heartbeat_at=campaign.created_at,
    )  # fmt: skip
    passport(worker)
    slower = ended.finished(folder, [["time 50"], ["time 40"]])
    (queued,) = queue_campaigns([slower.pk], "g++ 12 → 13")
    evaluate(queued.pk, cast.make_bench(cast.Moody(moods={EvaluationKind.SERIES: "time 60"})))
    sort_measured(Evaluation.objects.get(pk=queued.pk))
    routes, swept = dict(pages()), build_swept()
    return {name: filled(name, routes[name], keys) for name in ONE_OF_EACH} | {
        "compare_campaigns": f"/c/compare?c={campaign.pk}&c={running.pk}",
        "problem_figure": f"/p/{campaign.problem_id}/figures/trend/",
        "worker_figure": f"/workers/{worker.pk}/figures/passport/",
        "sweep_figure": f"/c/{swept.pk}/r/{ROUND}/sweep/figures/course/",
        "series_entry": f"/c/{slower.pk}/series/{SeriesEntry.objects.get().pk}/",
    }


def is_of_the_site(name, route):
    """Neither of a campaign nor of what is known; the login is looked at by itself."""
    if name in ("login", "problem"):
        return False
    above = ("c/", "w/", "x/", "search/", "webhooks/")
    return name in ("new_campaign", "imported") or not route.startswith(above)


def test_every_page_fits_and_axe_holds_nothing_against_it(enter, finished, tmp_path):
    """As those of a campaign do; and a login that is refused."""
    running, seen = build_sample(rounds=3, running=True), enter()
    assert unseen(seen, ADDRESSES, is_of_the_site) == set()
    each = one_of_each(finished, running, tmp_path)
    assert {name: seen.open(path).status for name, path in each.items()} == dict.fromkeys(each, 200)
    found = look_at_all(seen, ADDRESSES | each)
    seen.open("/")
    seen.page.click("#log-out")
    seen.page.click("main button")
    found += look_at(seen.page, "login refused")
    assert found == []
