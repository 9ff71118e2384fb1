"""`problem import`: the files of a collection are found beside the one that is named."""

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from campaigns.models import Problem
from knowledge.curation.projects import new_project
from knowledge.models import WorkKind, project_of

EXAMPLES = Path(__file__).parents[1] / "problems" / "import_" / "examples"
TASK, DEFINITION = EXAMPLES / "gpu_mode/row_scale", EXAMPLES / "definitions/gather_rows.json"


def brought(capsys, *given):
    call_command("problem", "import", *map(str, given), "--json")
    return json.loads(capsys.readouterr().out)


def test_a_task_is_read_with_the_submission_beside_it(capsys):
    found = brought(capsys, TASK / "task.yml")
    assert found["problem"] == "row_scale"
    assert not any("no kernel yet" in words for words in found["assumed"])


def test_it_is_kept_for_the_members_of_a_project(capsys, db):
    made = new_project("Aurora", [], None)
    brought(capsys, TASK / "task.yml", "--project", "Aurora", "--yes")
    assert project_of(WorkKind.PROBLEM, Problem.objects.get().pk) == made
    with pytest.raises(CommandError, match="project: 'Boreas'; accepted: Aurora"):
        brought(capsys, TASK / "task.yml", "--project", "Boreas", "--yes")


def test_a_solution_goes_before_the_submission_and_has_to_be_one(capsys, tmp_path):
    other = tmp_path / "mine.py"
    other.write_text("import torch\n\n\ndef custom_kernel(data):\n    return data[0] + 1\n")
    assert "+ 1" in str(brought(capsys, TASK / "task.yml", "--solution", other)["files"])
    other.write_text("import torch\n")
    with pytest.raises(CommandError, match=r"solution: .*custom_kernel"):
        brought(capsys, TASK / "task.yml", "--solution", other)


def test_what_is_missing_beside_a_task_is_named(tmp_path, capsys):
    shutil.copy(TASK / "task.yml", tmp_path)
    with pytest.raises(CommandError, match=r"reference\.py is missing, which belongs to task\.yml"):
        brought(capsys, tmp_path / "task.yml")


def test_a_definition_is_read_with_its_workloads_under_any_name(capsys, tmp_path):
    workloads = tmp_path / "some.txt"
    shutil.copy(DEFINITION.with_suffix(".jsonl"), workloads)
    assert brought(capsys, DEFINITION, "--workloads", workloads)["problem"] == "gather_rows"


def test_a_solution_that_is_none_is_refused(capsys, tmp_path):
    (tmp_path / DEFINITION.name).write_text("{}")
    with pytest.raises(CommandError, match=r"files: gather_rows\.json, solution/gather_rows"):
        brought(capsys, DEFINITION, "--solution", tmp_path / DEFINITION.name)
