"""Addresses of the campaign pages, grouped by the object under the address."""

from django.urls import URLPattern, URLResolver, include, path

from campaigns.views.campaign import (
    campaign,
    campaign_tab,
    report,
    report_file,
    reproducer,
    trail,
)
from campaigns.views.campaigns import archive_campaigns, campaigns, trails
from campaigns.views.compare import compare, compare_campaigns_page, compare_many
from campaigns.views.controls import STEPS, answer, control, placeholder, project
from campaigns.views.figures import figure, figure_file, figures
from campaigns.views.home import events, home
from campaigns.views.imported import (
    imported,
    imported_archive,
    imported_campaign,
    imported_file,
    imported_round,
)
from campaigns.views.new_campaign import new_campaign
from campaigns.views.out.feeds import campaign_feed, campaigns_feed, review_feed
from campaigns.views.out.share import campaign_badge, round_badge, share
from campaigns.views.out.webhooks import stop_webhook, webhooks
from campaigns.views.problem import import_problem, new_problem, problem, problem_by_name
from campaigns.views.review import count, decide_result, decide_round, following, queue, undo
from campaigns.views.round import round_, round_diff, round_source, round_tab, rounds
from campaigns.views.sample import load as load_sample
from campaigns.views.sample import remove as remove_sample
from campaigns.views.series import series_entry
from campaigns.views.site import audit, health, jobs, palette, shortcuts, team, theme
from campaigns.views.submit import again, hand_in, repair, round_result, submission
from campaigns.views.sweep import sweep, sweep_panel
from campaigns.views.workers import ask_passport, workers

CAMPAIGN = "c/<int:campaign_id>/"
ROUND = CAMPAIGN + "r/<int:number>/"
IMPORTED = "c/imported/<int:key>/"

# What has figures, and where their addresses begin.
FIGURES = {
    "campaign": CAMPAIGN,
    "sweep": ROUND + "sweep/",
    "problem": "p/<int:problem_id>/",
    "import": IMPORTED,
    "worker": "workers/<int:worker_id>/",
}

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("healthz", health, name="health"),
    path("theme", theme, name="theme"),
    path("events/", events, name="events"),
    path("jobs/", jobs, name="jobs"),
    path("palette", palette, name="palette"),
    path("shortcuts/", shortcuts, name="shortcuts"),
    path("audit/", audit, name="audit"),
    path("team/", team, name="team"),
    path("review/", queue, name="review"),
    path("review/count", count, name="review_count"),
    path("review/next", following, name="review_next"),
    path("workers/", workers, name="workers"),
    path("workers/<int:worker_id>/passport", ask_passport, name="ask_passport"),
    path("p/<int:problem_id>/", problem, name="problem"),
    path("p/new", new_problem, name="new_problem"),
    path("p/import", import_problem, name="import_problem"),
    path("p/<str:name>/", problem_by_name, name="problem_by_name"),
    path("repositories/", include("campaigns.repositories.pages")),
    path("c/", campaigns, name="campaigns"),
    path("c/trails.zip", trails, name="trails"),
    path("c/archive", archive_campaigns, {"verb": "archive"}, name="archive_campaigns"),
    path("c/unarchive", archive_campaigns, {"verb": "unarchive"}, name="unarchive_campaigns"),
    path("c/compare", compare_campaigns_page, name="compare_campaigns"),
    path("c/new", new_campaign, name="new_campaign"),
    path("c/sample", load_sample, name="load_sample"),
    path("c/imported/", imported, name="imported"),
    path(IMPORTED, imported_campaign, name="imported_campaign"),
    path(IMPORTED + "files.zip", imported_archive, name="imported_archive"),
    path(IMPORTED + "r/<int:ordinal>/", imported_round, name="imported_round"),
    path(IMPORTED + "f/<path:path>", imported_file, name="imported_file"),
    path(CAMPAIGN, campaign, name="campaign"),
    *(
        path(f"{CAMPAIGN}{verb}", control, {"verb": verb}, name=f"campaign_{verb}")
        for verb in STEPS
    ),
    path(CAMPAIGN + "remove", remove_sample, name="remove_sample"),
    path(CAMPAIGN + "project", project, name="campaign_project"),
    path(CAMPAIGN + "placeholder", placeholder, name="placeholder"),
    path(CAMPAIGN + "submit", hand_in, name="hand_in"),
    path(CAMPAIGN + "submissions/<int:key>/", submission, name="submission"),
    path(CAMPAIGN + "rounds/", rounds, name="rounds"),
    path(CAMPAIGN + "compare/<int:first>..<int:second>", compare, name="compare"),
    path(CAMPAIGN + "compare", compare_many, name="compare_many"),
    path(CAMPAIGN + "figures/", figures, name="figures"),
    path(CAMPAIGN + "report/", report, name="report"),
    path(CAMPAIGN + "<slug:tab>/", campaign_tab, name="campaign_tab"),
    path("c/<int:campaign_id>/report.html", report_file, name="report_file"),
    path(CAMPAIGN + "share", share, name="share"),
    path("badge/c/<int:campaign_id>.svg", campaign_badge, name="campaign_badge"),
    path("badge/c/<int:campaign_id>/r/<int:number>.svg", round_badge, name="round_badge"),
    path("feeds/campaigns.atom", campaigns_feed, name="campaigns_feed"),
    path("feeds/c/<int:campaign_id>.atom", campaign_feed, name="campaign_feed"),
    path("feeds/review.atom", review_feed, name="review_feed"),
    path("webhooks/", webhooks, name="webhooks"),
    path("webhooks/<int:key>/stop", stop_webhook, name="stop_webhook"),
    path("c/<int:campaign_id>/trail.zip", trail, name="trail"),
    path(ROUND, round_, name="round"),
    path(CAMPAIGN + "series/<int:key>/", series_entry, name="series_entry"),
    path(CAMPAIGN + "decide", decide_result, name="decide_result"),
    path(CAMPAIGN + "decisions/<int:key>/undo", undo, name="undo_decision"),
    path(ROUND + "decide", decide_round, name="decide_round"),
    path(ROUND + "answer", answer, name="answer_standing"),
    path(ROUND + "diff", round_diff, name="round_diff"),
    path(ROUND + "again", again, name="round_again"),
    path(ROUND + "repair", repair, name="repair_round"),
    path(ROUND + "reproduce.zip", reproducer, name="reproducer"),
    path(ROUND + "result", round_result, name="round_result"),
    path(ROUND + "source", round_source, name="round_source"),
    path(ROUND + "sweep/", sweep, name="sweep"),
    path(ROUND + "sweep/panel", sweep_panel, name="sweep_panel"),
    *(
        path(f"{base}figures/<slug:name>{end}", view, {"of": of}, name=f"{of}_{view.__name__}")
        for of, base in FIGURES.items()
        for end, view in (("/", figure), (".<slug:ending>", figure_file))
    ),
    path(ROUND + "<slug:tab>/", round_tab, name="round_tab"),
]
