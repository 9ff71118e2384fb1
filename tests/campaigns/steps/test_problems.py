"""A name of a problem means what its caller sees, their own projects first, and nothing else."""

import shutil

import pytest
from django.contrib.auth.models import User

from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import Problem
from campaigns.problems.shipped import UnknownProblem, problem_folder
from campaigns.steps.lifecycle.create_campaign import CampaignRefused, Wish, create_campaign
from campaigns.steps.problems import (
    find_problem,
    import_problem,
    keep_problem,
    known_problems,
    other_versions,
    places_of,
    problem_here,
    public_problem,
)
from knowledge.curation.projects import eyes_of, new_project
from knowledge.models import WorkKind, project_of
from knowledge.models.sight import seeing
from tests.campaigns.steps import cast

pytestmark = pytest.mark.django_db
TINY = {"problem.toml": cast.TOML, "ref.py": cast.REF}
OURS, OTHERS = "Zephyr", "Boreas"


def keeps(person, words, project="", name="tiny"):
    """What this person keeps; its title are the words."""
    toml = cast.TOML.replace('"tiny"', f'"{name}"').replace('"Tiny"', f'"{words}"')
    with seeing(eyes_of(person) if person else frozenset):
        return keep_problem(TINY | {"problem.toml": toml, "v0.cpp": words}, project, person)


def title(name, person, project=""):
    """What this person finds by a name."""
    with seeing(eyes_of(person)):
        return find_problem(name, person, project).spec.title


@pytest.fixture
def mia():
    """A member of two projects, whose problem has two versions in one of them."""
    made = User.objects.create(username="mia")
    for name in (OURS, OTHERS):
        new_project(name, ["mia"], None)
    keeps(made, "first", OURS)
    keeps(made, "ours", OURS)
    return made


@pytest.fixture
def otto(mia):
    """A stranger with the same name."""
    made = User.objects.create(username="otto")
    keeps(made, "public")
    return made


def test_each_finds_their_own_and_the_chosen_project_goes_first(mia, otto):
    assert (title("tiny", mia), title("tiny", otto)) == ("ours", "public")
    assert public_problem("tiny").title == "public"
    keeps(mia, "others", OTHERS)
    assert title("tiny", mia, OURS) == "ours"
    assert title("tiny", mia, OTHERS) == "others"
    assert title("tiny", otto, OTHERS) == "public"
    with pytest.raises(ProblemError, match="ambiguous") as told:
        title("tiny", mia)
    for words in ("ours", "others"):
        assert str(Problem.objects.get(title=words)) in str(told.value)
    assert str(Problem.objects.get(title="public")) not in str(told.value)


def test_a_command_and_a_lead_are_members_of_nothing_and_see_all(mia, otto):
    for find in (problem_here, lambda name: find_problem(name, otto)):
        with pytest.raises(
            ProblemError, match=r"\(seen by everybody\), tiny@\w{8} \(project Zephyr"
        ):
            find("tiny")
    assert problem_here("tiny", OURS).title == "ours"


def test_a_digest_names_one_version_that_is_seen_and_no_other(mia, otto):
    first, public = (Problem.objects.get(title=words) for words in ("first", "public"))
    assert title(str(first), mia) == "first"
    assert title(f"tiny@{public.digest}", mia) == "public"
    for wrong in (str(first), "tiny@" + "0" * 64, "", "\0", "@", "TINY", " tiny", "\uff54iny"):
        with pytest.raises(UnknownProblem, match=r"accepted: .*softmax, .*tiny"):
            title(wrong, otto)
    Problem.objects.create(
        slug="tiny", digest=public.digest[:8] + "0" * 56, title="forged", files={},
        backends={}, tolerance={},
    )  # fmt: skip
    with pytest.raises(ProblemError, match=f"{public.digest}.*{public.digest[:8]}000"):
        title(str(public), otto)


def test_a_repository_which_all_see_finds_no_problem_of_a_project(mia):
    with pytest.raises(UnknownProblem) as told:
        public_problem("tiny")
    assert "tiny" not in str(told.value).partition(";")[2]


def test_what_can_be_chosen_is_found_by_what_it_is_called(mia, otto):
    for person, there in ((mia, ["public", "ours"]), (otto, ["public"])):
        with seeing(eyes_of(person)):
            own = [one for one in known_problems() if one.spec.name == "tiny"]
            assert sorted(one.spec.title for one in own) == sorted(there)
            assert all(find_problem(one.name, person) == one for one in own)
            assert places_of("tiny", person) == ([OURS] if person == mia else [""])
    assert [row.title for row in other_versions(Problem.objects.get(title="ours"))] == ["first"]


def test_a_revision_is_where_it_was_asked_to_be_or_refused(mia, otto):
    for person, more, words in (
        (mia, {}, "project: 'tiny' is in Zephyr; accepted: Zephyr, or another name"),
        (None, {}, "accepted: Zephyr, or another name"),
        (otto, {"project": OURS}, "project: 'Zephyr'; accepted: none yet"),
    ):
        with pytest.raises(ProblemError, match=words):
            keeps(person, "new", **more)
    assert not Problem.objects.filter(title="new")
    assert project_of(WorkKind.PROBLEM, keeps(otto, "new").pk) is None
    with pytest.raises(ProblemError, match="'tiny' is seen by everybody; name another"):
        keeps(mia, "new", OURS)
    with pytest.raises(ProblemError, match="'tiny' is taken"):
        keeps(otto, "ours")


@pytest.mark.parametrize("name", ["softmax", "Softmax", "SOFTMAX"])
def test_nobody_takes_the_name_of_a_shipped_problem(mia, name):
    with pytest.raises(ProblemError, match="is a shipped problem's"):
        keeps(mia, "ours", name=name)
    with pytest.raises(ProblemError, match="letters, digits and"):
        keeps(mia, "ours", name="\u017foftmax")
    assert title("softmax", mia) == "Row softmax"


def test_a_folder_belongs_where_its_campaign_does_and_a_shipped_problem_to_all(mia, tmp_path):
    cast.make_platform()
    folder = cast.write_problem(tmp_path)
    (folder / "v0.cpp").write_text("// ours")
    campaign = create_campaign(Wish(folder, "test-cpu", "cpp", project=OURS))
    assert str(project_of(WorkKind.PROBLEM, campaign.problem_id)) == OURS
    for project in ("", OTHERS):
        with pytest.raises(
            CampaignRefused, match=r"^project: .*accepted: Zephyr, or a problem that"
        ):
            create_campaign(Wish(folder, "test-cpu", "cpp", project=project))
    copied = shutil.copytree(problem_folder("softmax"), tmp_path / "softmax")
    campaign = create_campaign(Wish(copied, "test-cpu", "cpp", project=OURS))
    assert project_of(WorkKind.PROBLEM, campaign.problem_id) is None
    (copied / "v0.cpp").write_text("// ours")
    with pytest.raises(ProblemError, match="is a shipped problem's"):
        create_campaign(Wish(copied, "test-cpu", "cpp", project=OURS))
    assert import_problem(copied).slug == "softmax"
