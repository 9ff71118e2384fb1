"""`spec`: a value with its line, or UNKNOWN and how to obtain it; proposals and reviews."""

import json

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from campaigns.management.base_command import ExitCode
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.models import Citation, Flag, Spec

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("wiki_of_module")]


def _fails(*words):
    with pytest.raises(CommandError) as caught:
        call_command("spec", *words)
    return caught.value.returncode, str(caught.value)


def test_it_prints_a_value_and_its_citation(capsys):
    call_command("spec", "get", "h200-sxm", "memory_bandwidth")
    value, citation = capsys.readouterr().out.splitlines()
    assert value == "4.8 TB/s"
    assert citation in {str(row) for row in Citation.objects.select_related("spec")}


def test_it_prints_only_the_citation_line(capsys):
    call_command("spec", "cite", "h200-sxm", "memory_bandwidth")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(
        "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L"
    )


def test_it_prints_a_name_that_is_no_number(capsys):
    call_command("spec", "get", "h200-sxm", "memory_type", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["shown"], said["value"], said["unit"]) == ("HBM3e", None, "text")


def test_it_gives_canonical_values_as_json(capsys):
    call_command("spec", "get", "h200-sxm", "memory_bandwidth", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["value"], said["unit"], said["evidence"]) == (4.8e12, "B/s", "documented")
    citation = said["citation"]
    assert citation["href"].startswith("/w/docs/docs/hardware/h200-sxm.md?rev=")
    assert (citation["state"], citation["flag"]) == ("ok", None)
    call_command("spec", "cite", "h200-sxm", "memory_bandwidth", "--json")
    assert json.loads(capsys.readouterr().out) == citation


@pytest.mark.parametrize("verb", ["get", "cite"])
def test_it_says_unknown_and_how_to_obtain_it(capsys, verb):
    code, message = _fails(verb, "h100-nvl", "matmul_throughput", "--dtype", "float16")
    assert code == ExitCode.NO_APPROVED_VALUE
    assert capsys.readouterr().out == "UNKNOWN (gpu-wiki not found)\n"
    assert message == (
        "matmul_throughput dtype=float16 of h100-nvl is unknown: "
        "run `.venv/bin/python manage.py wiki ceilings` on this device"
    )


def test_law_1_a_value_whose_cited_line_changed_is_not_given(capsys):
    spec = Spec.objects.get(platform__slug="h200-sxm", metric="memory_bandwidth")
    Flag.objects.create(spec=spec, kind="changed", note="it reads otherwise")
    place = "<gpu-wiki>/docs/hardware/h200-sxm.md:L23"
    for verb in ("get", "cite"):
        code, message = _fails(verb, "h200-sxm", "memory_bandwidth")
        assert code == ExitCode.NO_APPROVED_VALUE
        assert message.startswith(
            "memory_bandwidth of h200-sxm was 4.8 TB/s, and the cited text has changed at "
            f"{place}; a curator answers at /w/review/"
        )
        assert capsys.readouterr().out == "UNKNOWN (citation changed)\n"
    _fails("get", "h200-sxm", "memory_bandwidth", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["state"], said["value"], said["shown"]) == ("stale", None, "UNKNOWN")
    assert (said["citation"]["state"], said["citation"]["flag"]["kind"]) == ("changed", "changed")
    call_command("spec", "list", "--platform", "h200-sxm", "--metric", "memory_bandwidth")
    assert capsys.readouterr().out.endswith(f" <- {place} (citation changed)\n")


def test_it_never_answers_another_question(capsys):
    call_command("spec", "get", "h200-sxm", "peak_fp32")
    code, _ = _fails("get", "h200-sxm", "peak_fp32", "--dtype", "float32")
    assert code == ExitCode.NO_APPROVED_VALUE


def test_it_lists_the_platforms_that_are_accepted():
    code, message = _fails("get", "h900", "memory_bandwidth")
    assert code == ExitCode.NOT_FOUND
    assert message.startswith("unknown platform 'h900'; accepted: ")
    assert "h200-sxm" in message


def test_it_lists_the_metrics_that_are_near():
    code, message = _fails("get", "h200-sxm", "memory_speed")
    assert code == ExitCode.NOT_FOUND
    assert "memory_bandwidth" in message


def test_it_gives_an_unknown_as_data_too(capsys):
    code, _ = _fails("get", "h100-nvl", "matmul_throughput", "--dtype", "float16", "--json")
    said = json.loads(capsys.readouterr().out)
    assert code == ExitCode.NO_APPROVED_VALUE
    assert (said["state"], said["value"]) == ("unknown", None)
    assert said["how_to_obtain"] == "run `.venv/bin/python manage.py wiki ceilings` on this device"


def test_it_lists_what_is_asked_for(capsys):
    call_command("spec", "list", "--platform", "h200-sxm", "--metric", "memory_bandwidth")
    line = capsys.readouterr().out.strip()
    assert "approved preferred  h200-sxm memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/" in line
    call_command("spec", "list", "--state", "proposed", "--json")
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        (("--platform", "h900"), 2, "unknown platform 'h900'; accepted: "),
        (("--metric", "speed"), 2, "unknown metric 'speed'"),
        (("--state", "good"), 1, "state: 'good'; accepted: proposed, approved"),
    ],
)
def test_it_refuses_a_filter_that_nothing_has(asked, code, words):
    found, message = _fails("list", *asked)
    assert (found, words in message) == (code, True)


NOTE = "docs/notes.md"
PROPOSAL = (
    *("h200-sxm", "memory_bandwidth", "4.7 TB/s", "--cite", f"<gpu-wiki>/{NOTE}:L3"),
    *("--source", "by hand", "--kind", "measured", "--evidence", "measured"),
    *("--why", "measured it"),
)


@pytest.fixture
def people():
    take_files({NOTE: "# Notes\n\nbandwidth 4.7 TB/s\n"}, ImportOptions(origin="notes"))
    roles = {"vera": "viewer", "enzo": "engineer", "cora": "curator", "carl": "curator"}
    for name, role in roles.items():
        User.objects.create_user(name).groups.add(Group.objects.get(name=role))


def _proposed(capsys, *more):
    call_command("spec", "propose", *PROPOSAL, *more, "--json")
    return Spec.objects.get(pk=json.loads(capsys.readouterr().out)["id"])


def test_it_proposes_a_value_and_lets_a_second_person_approve_it(capsys, people):
    old = Spec.objects.get(platform__slug="h200-sxm", metric="memory_bandwidth")
    spec = _proposed(capsys, "--by", "enzo", "--replaces", str(old.pk))
    assert (spec.state, spec.rank, spec.replaces) == ("proposed", "preferred", old)
    assert spec.proposed_by.username == "enzo"
    call_command("spec", "review", str(spec.pk), "--approve", "--why", "read it", "--by", "cora")
    assert f"{spec.pk} approved preferred  h200-sxm" in capsys.readouterr().out
    call_command("spec", "cite", "h200-sxm", "memory_bandwidth")
    assert capsys.readouterr().out == f"memory_bandwidth: 4.7 TB/s <- <gpu-wiki>/{NOTE}:L3\n"


def test_it_returns_a_value_with_a_reason(capsys, people):
    spec = _proposed(capsys)
    assert (spec.proposed_by, spec.rank) == (None, "normal")
    call_command("spec", "review", str(spec.pk), "--return", "--why", "no table", "--by", "cora")
    spec.refresh_from_db()
    assert spec.state == "returned"


def test_it_lets_nobody_approve_without_the_right_or_an_own_value(capsys, people):
    own = str(_proposed(capsys, "--by", "cora").pk)
    for name in ("cora", "enzo", "vera"):
        code, _ = _fails("review", own, "--approve", "--why", "mine", "--by", name)
        assert code == ExitCode.NOT_ALLOWED
    assert Spec.objects.get(pk=own).state == "proposed"
    call_command("spec", "review", own, "--approve", "--why", "read", "--by", "carl")
    code, message = _fails("review", own, "--approve", "--why", "late", "--by", "carl")
    assert (code, "is approved; accepted from there" in message) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("review", "999999", "--approve", "--why", "x", "--by", "cora"), 2, "999999: no such"),
        (("review", "1", "--approve", "--why", "x", "--by", "nobody"), 2, "user 'nobody'"),
        (("review", "1", "--why", "x", "--by", "cora"), 1, "either --approve or --return"),
        (
            ("review", "1", "--approve", "--return", "--why", "x", "--by", "cora"),
            1,
            "either --approve or --return",
        ),
        (("propose", *PROPOSAL, "--by", "vera"), 3, "needs the role engineer"),
        (("propose", *PROPOSAL, "--by", "nobody"), 2, "user 'nobody'"),
        (("propose", "h900", *PROPOSAL[1:]), 2, "unknown platform 'h900'"),
        (("propose", *PROPOSAL, "--replaces", "999999"), 2, "999999: no such value"),
        (("propose", "h200-sxm", "memory_bandwidth", "4.9 TB/s", *PROPOSAL[3:]), 1, "does not st"),
        (("propose", "h200-sxm", "memory_bandwidth", "4.7 TBs", *PROPOSAL[3:]), 1, "value: "),
        (("propose", *PROPOSAL[:4], f"<gpu-wiki>/{NOTE}:L9", *PROPOSAL[5:]), 1, "L1 to L3"),
        (("propose", *PROPOSAL[:4], f"{NOTE}:L3", *PROPOSAL[5:]), 1, "cite: "),
    ],
)
def test_it_refuses_in_one_line_and_stores_nothing(people, words, code, said):
    before = Spec.objects.count()
    found, message = _fails(*words)
    assert (found, said in message, message.count("\n")) == (code, True, 0)
    assert Spec.objects.count() == before
