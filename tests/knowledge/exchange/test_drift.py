"""Over all shipped documents: a changed digit or a missing line turns exactly its citations red."""

import random
import re

import pytest

from knowledge.exchange.check import check_wiki
from knowledge.exchange.importer import SHIPPED, ImportOptions, take_files
from knowledge.exchange.readers.files import read_folder
from knowledge.models import Citation, Flag, Spec, SpecState
from knowledge.specs.citation import split_lines
from knowledge.specs.reader import read_page

pytestmark = pytest.mark.django_db

FILES = read_folder(SHIPPED)
FACTS = {path: page.specs for path, text in FILES.items() if (page := read_page(path, text)).specs}
DIGIT = re.compile(r"\d")
SEEDS = [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]


def import_changed(changed):
    take_files(FILES | changed, ImportOptions())


def flagged_lines():
    """(path, line in the first revision) of every open flag."""
    open_flags = Flag.objects.open().values_list("spec", flat=True)
    first = Citation.objects.filter(spec__in=open_flags, revision__number=1)
    return sorted(first.values_list("revision__document__path", "first_line"))


def with_other_digit(line, draw):
    """The spec line with one digit of its value changed into another."""
    head, bar, rest = line.partition(" | ")
    at = draw.choice([m.start() for m in DIGIT.finditer(head, head.index(": "))])
    other = draw.choice([d for d in "123456789" if d != head[at]])
    return head[:at] + other + head[at + 1 :] + bar + rest


def numbered(specs):
    return [spec for spec in specs if DIGIT.search(spec.facts.shown)]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_digit_in_every_document_flags_just_those_lines(shipped, seed):
    draw, changed, expected = random.Random(seed), {}, []
    for path, specs in FACTS.items():
        spec = draw.choice(numbered(specs))
        lines = split_lines(FILES[path])
        lines[spec.line - 1] = with_other_digit(spec.quote, draw)
        changed[path] = "\n".join(lines) + "\n"
        expected.append((path, spec.line))
    import_changed(changed)
    assert flagged_lines() == sorted(expected)
    assert set(Flag.objects.values_list("kind", flat=True)) == {"changed"}
    red = {problem.place for problem in check_wiki() if problem.state == "changed"}
    assert red == {f"{path}:L{line}" for path, line in expected}


@pytest.mark.parametrize("seed", SEEDS)
def test_one_line_less_in_every_document_flags_just_those_lines(shipped, seed):
    draw, changed, expected = random.Random(seed), {}, []
    for path, specs in FACTS.items():
        spec = draw.choice(specs)
        lines = split_lines(FILES[path])
        del lines[spec.line - 1]
        changed[path] = "\n".join(lines) + "\n"
        expected.append((path, spec.line))
    import_changed(changed)
    assert flagged_lines() == sorted(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_new_lines_above_move_every_citation_and_flag_none(shipped, seed):
    draw, changed = random.Random(seed), {}
    for path, specs in FACTS.items():
        lines = split_lines(FILES[path])
        lines.insert(draw.randrange(1, specs[0].line - 1), "A remark.")
        changed[path] = "\n".join(lines) + "\n"
    import_changed(changed)
    assert not Flag.objects.exists()
    assert not Spec.objects.filter(state=SpecState.PROPOSED).exists()
    for path, specs in FACTS.items():
        newest = Citation.objects.filter(revision__document__path=path, revision__number=2)
        assert sorted(newest.values_list("first_line", flat=True)) == [s.line + 1 for s in specs]
