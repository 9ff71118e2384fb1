"""Addresses of the campaigns' part of the HTTP door, mounted at /api/v1/."""

from django.urls import include, path

from campaigns.api import reading
from campaigns.api.campaigns import (
    ARCHIVING,
    STEPS,
    Archiving,
    CampaignProject,
    Campaigns,
    RestartAnswers,
    Steering,
)
from campaigns.api.own_problems import BringProblem
from campaigns.api.review import ResultDecisions, ReviewQueueView, RoundDecisions, UndoDecision
from campaigns.api.series import Series, SeriesAnswers
from campaigns.api.submissions import HandIn, MeasureAgain, Mend, OneSubmission, Submissions
from campaigns.api.workers import OnePassport, OneWorker, Workers

ONE_CAMPAIGN, ONE_EVALUATION = "campaigns/<int:pk>/", "evaluations/<int:pk>/"

app_name = "campaigns_api"
urlpatterns = [
    path("campaigns/", Campaigns.as_view(), name="campaigns"),
    path(ONE_CAMPAIGN, reading.OneCampaign.as_view(), name="campaign"),
    path(ONE_CAMPAIGN + "findings/", reading.Findings.as_view(), name="findings"),
    path(ONE_CAMPAIGN + "markdown", reading.CampaignMarkdown.as_view(), name="campaign_markdown"),
    path(ONE_CAMPAIGN + "project/", CampaignProject.as_view(), name="campaign_project"),
    path(ONE_CAMPAIGN + "restart/", RestartAnswers.as_view(), name="restart"),
    *(path(f"{ONE_CAMPAIGN}{verb}/", Steering.as_view(verb=verb), name=verb) for verb in STEPS),
    *(
        path(f"{ONE_CAMPAIGN}{verb}/", Archiving.as_view(verb=verb), name=verb)
        for verb in ARCHIVING
    ),
    path("rounds/", reading.Rounds.as_view(), name="rounds"),
    path("rounds/<int:pk>/", reading.OneRound.as_view(), name="round"),
    path("rounds/<int:pk>/markdown", reading.RoundMarkdown.as_view(), name="round_markdown"),
    path("candidates/", reading.Candidates.as_view(), name="candidates"),
    path("candidates/<int:pk>/", reading.OneCandidate.as_view(), name="candidate"),
    path("evaluations/", reading.Evaluations.as_view(), name="evaluations"),
    path(ONE_EVALUATION, reading.OneEvaluation.as_view(), name="evaluation"),
    path(ONE_EVALUATION + "cases/", reading.EvaluationCases.as_view(), name="evaluation_cases"),
    path(ONE_EVALUATION + "samples/", reading.Samples.as_view(), name="samples"),
    path("verdicts/", reading.Verdicts.as_view(), name="verdicts"),
    path("verdicts/<int:pk>/", reading.OneVerdict.as_view(), name="verdict"),
    path("events/", reading.Events.as_view(), name="events"),
    path("events/<int:pk>/", reading.OneEvent.as_view(), name="event"),
    path("sweeps/", reading.Sweeps.as_view(), name="sweeps"),
    path("sweeps/<int:pk>/", reading.OneSweep.as_view(), name="sweep"),
    path("sweeps/<int:pk>/points/", reading.Points.as_view(), name="points"),
    path("problems/", BringProblem.as_view(), name="problems"),
    path("problems/<int:pk>/", reading.OneProblem.as_view(), name="problem"),
    path("problems/<int:pk>/cases/", reading.ProblemCases.as_view(), name="problem_cases"),
    path("submissions/", Submissions.as_view(), name="submissions"),
    path("submissions/<int:pk>/", OneSubmission.as_view(), name="submission"),
    path(ONE_CAMPAIGN + "candidates/", HandIn.as_view(), name="hand_in"),
    path(ONE_CAMPAIGN + "again/", MeasureAgain.as_view(), name="again"),
    path(ONE_CAMPAIGN + "repair/", Mend.as_view(), name="mend"),
    path("review/", ReviewQueueView.as_view(), name="review"),
    path(
        ONE_CAMPAIGN + "rounds/<int:number>/decisions/",
        RoundDecisions.as_view(),
        name="round_decisions",
    ),
    path(ONE_CAMPAIGN + "series/", Series.as_view(), name="series"),
    path(ONE_CAMPAIGN + "series/<int:key>/answer/", SeriesAnswers.as_view(), name="series_answer"),
    path(ONE_CAMPAIGN + "decisions/", ResultDecisions.as_view(), name="result_decisions"),
    path(ONE_CAMPAIGN + "decisions/<int:key>/undo/", UndoDecision.as_view(), name="undo_decision"),
    path("", include("campaigns.repositories.api")),
    path("workers/", Workers.as_view(), name="workers"),
    path("workers/<int:pk>/", OneWorker.as_view(), name="worker"),
    path("workers/<int:pk>/passport/", OnePassport.as_view(), name="passport"),
]
