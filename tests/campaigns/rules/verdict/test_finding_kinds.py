"""The policy of a campaign, and that what we ship ourselves gives no reason to refuse."""

from __future__ import annotations

import pytest

from campaigns.benchmarks.trick import TRICKS
from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import SHIPPED
from campaigns.rules.verdict.finding_kinds import (
    DEFAULT_POLICY,
    Examined,
    Finding,
    FindingKind,
    PolicyError,
    Stance,
    default_policy,
    parse_choices,
    read_policy,
)
from campaigns.syntax.findings.find import findings_of

V0S = [p for p in sorted(SHIPPED.glob("*/v*")) if p.suffix in (".cpp", ".cu", ".py")]


def test_it_takes_what_a_campaign_says_otherwise():
    policy = read_policy({"library": "refused", "cache": "allowed"})
    assert policy[FindingKind.LIBRARY] is Stance.REFUSED
    assert policy[FindingKind.CACHE] is Stance.ALLOWED
    assert policy[FindingKind.PROCESS] is DEFAULT_POLICY[FindingKind.PROCESS]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"caches": "refused"}, "findings: 'caches'; accepted: identity_key"),
        ({"cache": "forbidden"}, "findings.cache: 'forbidden'; accepted: allowed"),
    ],
)
def test_it_refuses_a_policy_that_it_does_not_know(given, words):
    with pytest.raises(PolicyError, match=words):
        read_policy(given)


def test_every_kind_says_why_to_look():
    assert all(kind.meaning for kind in FindingKind)


def test_it_sorts_findings_by_stance():
    found = (Finding(FindingKind.PROCESS, 1, "fork", ""), Finding(FindingKind.CACHE, 2, "kept", ""))
    examined = Examined("v1.cpp", found, DEFAULT_POLICY)
    assert examined.of(Stance.REFUSED) == found[:1]
    assert examined.of(Stance.FLAGGED) == found[1:]
    assert examined.of(Stance.ALLOWED) == ()


def test_it_lets_cpp_use_threads_and_no_other_backend():
    assert default_policy("cpp")[FindingKind.THREAD] is Stance.ALLOWED
    assert read_policy({"thread": "refused"}, "cpp")[FindingKind.THREAD] is Stance.REFUSED
    assert {default_policy(b)[FindingKind.THREAD] for b in ("cuda", "triton")} == {Stance.FLAGGED}
    kept = {k: v for k, v in default_policy("cpp").items() if k is not FindingKind.THREAD}
    assert kept.items() <= DEFAULT_POLICY.items()


def test_it_reads_choices_as_a_command_line_gives_them():
    assert parse_choices(["cache=refused", "thread="]) == {"cache": "refused", "thread": ""}
    with pytest.raises(PolicyError, match="findings: 'cache'; accepted: KIND=STANCE"):
        parse_choices(["cache"])
    with pytest.raises(PolicyError, match=r"findings\.cache: given twice"):
        parse_choices(["cache=refused", "cache=allowed"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.py", "x = " + "-" * 50_000 + "1"),
        ("deep.py", "x = " + "+".join(["a"] * 3000)),
        ("deep.cpp", "int x = " + "+".join(["a"] * 3000) + ";"),
    ],
)
def test_it_says_so_where_a_source_is_nested_too_deeply(name, text):
    (found,) = findings_of(Source(name, text))
    assert (found.kind, found.what) == (FindingKind.HIDDEN_CODE, "nested too deeply to be read")


def test_it_keeps_every_kind_beside_many_of_another():
    lines = [f"static int kept{n} = 0;" for n in range(80)]
    text = "void solve() {\n" + "\n".join(lines) + "\nfork();\n}"
    found = findings_of(Source("many.cpp", text))
    assert [f.kind for f in found].count(FindingKind.CACHE) == 50
    assert found[-1] == Finding(FindingKind.PROCESS, 82, "fork", "fork();")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["ends.py", "ends.cpp"])
def test_it_counts_lines_as_the_source_page_does(name, end):
    lines = {"ends.py": ["x = '\f'", "import os", "os.fork()"]}.get(
        name, ['auto x = "\f";', "void solve() {", "fork(); }"]
    )
    found = findings_of(Source(name, end.join(lines)))
    assert [(f.line, f.quote) for f in found if f.kind is FindingKind.PROCESS] == [(3, lines[2])]


HONEST = [
    path for path in sorted(TRICKS.glob("honest/*/*")) if path.suffix in (".py", ".cu", ".cpp")
]


@pytest.mark.parametrize("path", HONEST, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_it_refuses_no_honest_candidate_by_default(path):
    found = findings_of(Source(path.name, path.read_text()))
    policy = default_policy(path.parent.name)
    assert Examined(path.name, found, policy).of(Stance.REFUSED) == ()


@pytest.mark.parametrize("path", V0S, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_nothing_shipped_is_worth_a_look(path):
    assert findings_of(Source(path.name, path.read_text())) == ()
