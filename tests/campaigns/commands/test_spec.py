"""`spec get` and `spec cite`: a value with its line, or UNKNOWN and how to obtain it."""

import json

import pytest
from django.core.management import CommandError, call_command

from campaigns.management.door import ExitCode
from knowledge.importer import import_wiki
from knowledge.models import Citation


@pytest.fixture(autouse=True)
def shipped(db):
    import_wiki()


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
    assert (said["display"], said["value"], said["unit"]) == ("HBM3e", None, "text")


def test_it_gives_canonical_values_as_json(capsys):
    call_command("spec", "get", "h200-sxm", "memory_bandwidth", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["value"], said["unit"], said["evidence"]) == (4.8e12, "B/s", "documented")
    assert said["href"].startswith("/w/docs/docs/hardware/h200-sxm.md?rev=")


@pytest.mark.parametrize("verb", ["get", "cite"])
def test_it_says_unknown_and_how_to_obtain_it(capsys, verb):
    code, message = _fails(verb, "h200-sxm", "matmul_throughput", "--dtype", "float16")
    assert code == ExitCode.NO_APPROVED_VALUE
    assert capsys.readouterr().out == "UNKNOWN (gpu-wiki not found)\n"
    assert message == (
        "matmul_throughput dtype=float16 of h200-sxm is unknown: "
        "run `python manage.py wiki ceilings` on this device"
    )


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
