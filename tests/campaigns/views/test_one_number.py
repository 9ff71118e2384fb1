"""Each quantity of a campaign is one number: one value and one rounding, wherever it is written.

Every address of the campaign pages is visited, and what commands, HTTP door and trail say is read.
A number of the records has its name beside it (`data-quantity`), which the filters write; a time,
gain or noise floor in a sentence has to be one of those, written in the same way.
"""

import html
import io
import json
import re
import zipfile
from collections import defaultdict
from contextlib import redirect_stdout

import pandas
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, reverse

from campaigns.models import Campaign, Evaluation, Verdict
from campaigns.records.campaigns import target_of
from campaigns.records.cases import spread
from campaigns.records.evaluations import report_of
from campaigns.records.explained.profiles import profiled_in
from campaigns.records.judged_rounds import standard_of
from campaigns.records.verdicts import results_of
from campaigns.reports.baselines import baseline_rows
from campaigns.reports.figures.registry import FIGURES
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.one_session import compare
from campaigns.rules.wording import duration, share
from campaigns.urls import urlpatterns
from campaigns.views.campaign import TABS as CAMPAIGN_TABS
from campaigns.views.round_tabs import OVERVIEW, TABS
from tests.around import built_around
from tests.campaigns.busy import build_busy
from tests.campaigns.finished import finished
from tests.campaigns.views.conftest import round_address
from tests.campaigns.views.test_baselines import NoCompiler

# Pages of something else than a campaign, or with nothing in them but a source or an answer.
APART = {
    *(
        "audit",
        "health",
        "jobs",
        *("webhooks", "stop_webhook"),
        *("undo_decision", "series_entry", "trails"),
        "theme",
        "workers",
        "ask_passport",
        "import_problem",
        "new_problem",
        "new_campaign",
        "campaign_project",
    ),
    *("imported", "imported_campaign", "imported_archive", "imported_round", "imported_file"),
    *("problem", "problem_by_name", "submission", "round_diff", "round_source", "reproducer"),
    # A screen only ranks, and says so beside its times.
    *("sweep", "sweep_panel", "sweep_figure", "sweep_figure_file"),
    *(
        f"{of}_{kind}"
        for of in ("problem", "import", "worker")
        for kind in ("figure", "figure_file")
    ),
}
MARK = re.compile(
    r'<data value="(?P<v1>[^"]+)" data-quantity="(?P<n1>[^"]+)">(?P<t1>[^<]*)</data>'
    r'|<td title="[^"]*" data-value="(?P<v2>[^"]+)" data-quantity="(?P<n2>[^"]+)">'
    r"(?P<t2>[^<]*)</td>"
)
DELTA = re.compile(
    r'<span class="delta" data-delta="(?P<v>[^"]+)" data-ci-low="(?P<low>[^"]+)" '
    r'data-ci-high="(?P<high>[^"]+)" data-n="(?P<n>\d+)" data-baseline="[^"]+" '
    r'data-quantity="(?P<name>[^"]+)"[^>]*><strong>(?P<word>[^<]*)</strong> '
    r'<span class="ends">(?P<ends>[^<]*)</span>'
)
FACTOR = re.compile(
    r"(?<!median )(?<!predicted was )(?<![\d,.])[\d,.]+× (?:faster|slower|as fast)(?: \[[^\]]+\])?"
)
# What plain data and columns of tables call a quantity.
GAINS, TIMES = ("gain:", "1 / gain:"), ("time:", "median:", "rival:")
DATA = {
    **dict.fromkeys(("gain", "gain_low", "gain_high"), GAINS),
    **dict.fromkeys(("time_us", "latency_us", "kernel_us", "incumbent_latency_us"), TIMES),
    **dict.fromkeys(("candidate_us", "incumbent_us", "baseline_us", "compared_us"), TIMES),
    **dict.fromkeys(("Time, µs", "Incumbent beside it, µs", "median"), TIMES),
    "noise_floor": ("noise:",),
}
# A share names what it is a share of.
SHARE = re.compile(r"([\d.]+ %) of the (?:measured|documented|derived) [\d.]+ \S+")
# A limit of a gate is no time of a kernel.
TIME = re.compile(r"(?<![\d,.])(?<!within )([\d,]*\.?\d+) (µs|ms)\b(?! by unpaired medians)")
FLOOR = re.compile(r"(?<=noise floor )(?:of )?±?[\d.]+ %", re.IGNORECASE)


def _built():
    return build_busy(10), build_busy(3, running=True)


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    with built_around(django_db_blocker, _built) as keys:
        yield keys


class Told:
    """What was read: name → values and texts; and every sentence with its place."""

    def __init__(self):
        self.values, self.texts, self.places = defaultdict(set), defaultdict(set), defaultdict(set)
        self.prose, self.data = [], []

    def page(self, place, body):
        for found in MARK.finditer(body):
            name, value, text = (
                html.unescape(found[f"{key}1"] or found[f"{key}2"]) for key in "nvt"
            )
            self.add(name, float(value.replace(",", "")), text, place)
        for found in DELTA.finditer(body):
            ends = float(found["v"]), float(found["low"]), float(found["high"]), int(found["n"])
            self.add(found["name"], ends, f"{found['word']} {found['ends']}", place)
        bare = re.sub(r"<(style|script|pre|head)\b.*?</\1>", " ", body, flags=re.DOTALL)
        # Numbers with a name are read above. A log, and what a commit says of the parts of a call,
        # is not of the times that pages compare.
        bare = re.sub(r"<data [^>]*>[^<]*</data>", " # ", bare)
        self.text(place, html.unescape(re.sub(r"<[^>]+>", " ", bare)))

    def text(self, place, words):
        self.prose.append((place, " ".join(words.replace("\\", "").split())))

    def facts(self, place, value, key=""):
        """Every number of plain data, with the key that it stands under."""
        if isinstance(value, dict):
            for name, each in value.items():
                self.facts(place, each, name)
        elif isinstance(value, list):
            for each in value:
                self.facts(place, each, key)
        elif isinstance(value, float) and value == value and key in DATA:
            self.data.append((place, key, _same(value)))

    def add(self, name, value, text, place):
        self.values[name].add(value if isinstance(value, tuple) else _same(value))
        self.texts[name].add(_plain(text))
        self.places[name].add(place)

    def written(self, *begins):
        return {t for name, texts in self.texts.items() if name.startswith(begins) for t in texts}

    def strangers(self, phrase, known):
        """Where a sentence has such a phrase that is none of the known ones."""
        return [
            (place, found[0], words[max(0, found.start() - 90) : found.end() + 40])
            for place, words in self.prose
            for found in phrase.finditer(words)
            if _plain(found[0].removeprefix("of ").removeprefix("±")) not in known
        ]


def _with_units(text):
    """Markdown with the unit of a column that is called "us" beside each of its numbers."""
    lines, place = [], None
    for line in text.splitlines():
        cells = line.split("|")
        names = [cell.strip() for cell in cells]
        place = names.index("us") if "us" in names else place if len(cells) > 1 else None
        if place and place < len(cells) and re.fullmatch(r"[\d,.]+", names[place]):
            cells[place] += "µs "
        lines.append("|".join(cells))
    return "\n".join(lines)


def _same(value):
    """As many digits as a page writes of a number."""
    return float(f"{value:.10g}")


def _plain(text):
    """A time in µs, whether its unit is in the header or beside it; other texts as they are."""
    found = re.fullmatch(r"([\d,]*\.?\d+)(?: (µs|ms|s))?", text.strip())
    if not found:
        return text.strip().replace(".0 %", " %")
    scale = {"ms": 1e3, "s": 1e6}.get(found[2], 1)
    return f"{float(found[1].replace(',', '')) * scale:.6g}"


def _addresses(campaign):
    numbers = list(campaign.rounds.values_list("number", flat=True))
    pairs = [(1, numbers[-1]), (1, 2), (2, numbers[-1]), (numbers[-1], 1)]
    for pattern in urlpatterns:
        if not isinstance(pattern, URLPattern) or pattern.name in APART:
            continue
        wanted = set(pattern.pattern.converters)
        if wanted == {"campaign_id", "number"}:
            yield from (reverse(pattern.name, args=[campaign.pk, n]) for n in numbers)
        elif wanted == {"campaign_id", "number", "tab"}:
            tabs = [tab for tab in TABS if tab != OVERVIEW]
            yield from (round_address(campaign, n, tab) for n in numbers for tab in tabs)
        elif wanted == {"campaign_id", "tab"}:
            yield from (reverse(pattern.name, args=[campaign.pk, tab]) for tab in CAMPAIGN_TABS)
        elif wanted == {"campaign_id", "first", "second"}:
            yield from (reverse(pattern.name, args=[campaign.pk, *pair]) for pair in pairs)
        elif "name" in wanted:
            yield from _drawings(campaign, pattern.name, ending="ending" in wanted)
        elif wanted <= {"campaign_id"}:
            yield reverse(pattern.name, kwargs=dict.fromkeys(wanted, campaign.pk))
        else:
            pytest.fail(f"{pattern.name}: is not visited; say how, or that it is apart")
    yield from _exports(campaign, pairs)


def _exports(campaign, pairs):
    for pair in pairs:
        page = reverse("compare", args=[campaign.pk, *pair])
        yield from (f"{page}?format={ending}" for ending in ("csv", "json", "md"))
    yield from (f"{reverse(n, args=[campaign.pk])}?format=csv" for n in ("rounds", "report"))
    yield f"{reverse('campaigns')}?format=csv"


def _drawings(campaign, view, *, ending):
    for name in sorted(FIGURES.keys() - {"phases"}):
        case = f"?case={campaign.cases[-1]}" if name == "roofline" else ""
        for key in ((name, "svg"), (name, "csv")) if ending else ((name,),):
            yield reverse(view, args=[campaign.pk, *key]) + case


def _read_answer(told, address, answer):
    kind = answer.headers.get("Content-Type", "")
    if kind == "application/zip":
        files = zipfile.ZipFile(io.BytesIO(answer.content))
        for name in files.namelist():
            if name.endswith((".md", ".txt", ".yaml")):
                told.text(f"{address} {name}", _with_units(files.read(name).decode()))
            elif name.endswith("trail.json") or "/memory/" in name:
                told.facts(f"{address} {name}", json.loads(files.read(name)))
    elif kind.startswith("text/csv"):
        told.facts(address, pandas.read_csv(io.BytesIO(answer.content)).to_dict("records"))
    elif kind.startswith("application/json"):
        told.facts(address, answer.json())
    elif kind.startswith("text/markdown"):
        told.text(address, _with_units(answer.content.decode()))
    else:
        told.page(address, answer.content.decode())


def _read(campaign, user, told):
    """Everything that is written of this campaign, and what else its records say."""
    client = Client()
    client.force_login(user)
    for address in _addresses(campaign):
        answer = client.get(address)
        # A figure that cannot be drawn has a page that says why, and no file.
        assert answer.status_code in (200, 302, 405) or "/figures/" in address, address
        if answer.status_code == 200:
            _read_answer(told, address, answer)
    live = client.get(
        reverse("campaign", args=[campaign.pk]), {"since": "0~0~0"}, headers={"HX-Request": "true"}
    )
    told.page("live", live.content.decode())
    commands = {"campaign list": (), "campaign show": (campaign.pk,)}
    commands |= {"round show": (campaign.pk, 2), "round compare": (campaign.pk, 1, 2)}
    for words, keys in commands.items():
        told.text(words, _said(*words.split(), *keys))
        told.facts(f"{words} --json", json.loads(_said(*words.split(), *keys, "--json")))
    for name in ("campaigns", "rounds", "verdicts"):
        asked = {} if name == "campaigns" else {"campaign": campaign.pk}
        for row in client.get(f"/api/v1/{name}/", asked).json()["results"]:
            told.facts(f"{name} {row['id']}", client.get(f"/api/v1/{name}/{row['id']}/").json())
    _place(told, campaign)


def _place(told, campaign):
    """Floors, targets and the ends of intervals; and what each session showed by itself, in gates.

    All as they are written.
    """
    target = target_of(campaign)
    cases = target.cases.values()
    placed = [us for case in cases for us in (case.floor_us, case.target_us) if us]
    placed += [geomean(us for case in cases if (us := case.target_us))] if placed else []
    standard = standard_of(campaign, has_incumbent=True)
    placed += [floor.floor_us for floor in standard.floors.values()]
    floors = {case.case: case.floor_us for case in cases if case.floor_us}
    for case in (case for row in baseline_rows(campaign) for case in row.cases):
        ends = case.gain.gain, case.gain.low, case.gain.high
        told.add(f"gain:torch:{len(told.texts)}", ends, case.gain.words, "baselines")
    for evaluation in Evaluation.objects.filter(candidate__round__campaign=campaign):
        report = report_of(evaluation)
        timed = [case for case in report.cases if case.candidate] if report else []
        if report and (found := profiled_in(report.profile, campaign)):
            # A launch by the profiler's clock, which is no time of a round.
            placed.append(found.main.values["duration_us"])
        for case in timed:
            arms = [case.candidate, case.incumbent]
            spreads = [spread(arm.samples_us) for arm in arms]
            placed += [end for one in spreads for end in (one.median, one.low, one.high)]
            placed += [arm.device_us for arm in arms if arm.device_us]
        if timed:
            found = compare(report, standard).credited
            for gain in (found.gain, *found.cases.values(), *found.classes.values()):
                name = f"gain:evaluation:{evaluation.pk}:{len(told.texts)}"
                told.add(name, (gain.gain, gain.low, gain.high), gain.words, "report")
    for verdict in Verdict.objects.filter(round__campaign=campaign):
        # An invalid round has no share on its page, and a mark above the roof.
        for found in results_of(verdict):
            placed += [t for one in (found.time, found.against) if one for t in (one.low, one.high)]
            if found.time and (floor := floors.get(found.case)):
                told.texts["share:placed"].add(_plain(share(floor / found.time.median)))
    told.texts["median:placed"] |= {_plain(duration(us)) for us in placed}


def _said(*words):
    with redirect_stdout(io.StringIO()) as out:
        call_command(*map(str, words))
    return out.getvalue()


_told: list[Told] = []


@pytest.fixture
def told(built, engineer, tmp_path):
    """All that is written of these and of one beside torch; read once for all tests."""
    if not _told:
        found = Told()
        beside = finished(tmp_path, [["time 50"]], judge=NoCompiler, baselines=True)
        for key in (*built, beside.pk):
            _read(Campaign.objects.get(pk=key), engineer, found)
        _told.append(found)
    return _told[0]


def test_a_quantity_has_one_value_and_one_rounding(told):
    assert sum(len(places) > 1 for places in told.places.values()) > 10
    many = {
        name: (told.values[name], told.texts[name], told.places[name])
        for name in told.values
        if len(told.values[name]) > 1 or len(told.texts[name]) > 1
    }
    assert many == {}


def test_nothing_is_a_product_but_in_the_section_on_limits(told):
    assert [name for name in told.places if " × " in name] == []
    product = re.compile(r"[Pp]roducts? of (?:the )?(?:rounds|gains|paired)|multipl(?:y|ies) to")
    places = {place for place, *_ in told.strangers(product, set())}
    assert places
    assert [place for place in places if "/report" not in place] == []


def test_every_share_of_a_limit_names_the_limit_and_is_one_on_record(told):
    known = {text for name in told.texts if name.startswith("share") for text in told.texts[name]}
    shares = [(place, m[1]) for place, words in told.prose for m in SHARE.finditer(words)]
    assert any(".svg" in place for place, _ in shares)
    goals = {"90 %"}
    assert [one for one in shares if one[1].replace(".0 %", " %") not in known | goals] == []
    assert told.strangers(re.compile(r"[\d.]+ % of (?:the )?(?:roof|floor)\b(?! of)"), set()) == []


def test_every_gain_in_a_sentence_is_one_on_record(told):
    known = told.written("gain:", "1 / gain:")
    known |= {text.partition(" [")[0] for text in known}
    assert told.strangers(FACTOR, known) == []


def test_every_time_in_a_sentence_is_one_on_record(told):
    known = told.written("time:", "median:", "rival:")
    assert told.strangers(TIME, known) == []


def test_every_noise_floor_in_a_sentence_is_that_of_a_verdict(told):
    known = told.written("noise:")
    assert len(known) > 2
    assert told.strangers(FLOOR, known) == []


def test_data_says_what_the_pages_say(told):
    assert {key for _, key, _ in told.data} >= {"gain", "time_us", "latency_us", "median"}
    strange = []
    for place, key, value in told.data:
        begins = DATA[key]
        found = [
            v for name, values in told.values.items() if name.startswith(begins) for v in values
        ]
        known = {_same(one) for v in found for one in (v if isinstance(v, tuple) else (v,))}
        strange += [(place, key, value)] if value not in known else []
    assert strange == []


# Templates write what is measured by these alone, since they write its name beside it.
WRITERS = ("us", "duration", "share", "factor", "time_change", "change", "time_or_unknown")
MEASURED = re.compile(
    r"{{\s*[\w.]*?\b(\w+_us|gain|low|high|noise|floor|share|median|ratio)((?:\|[^}]*)?)\s*}}"
)


def test_no_template_writes_a_measured_number_by_itself():
    found = []
    for path in sorted((settings.BASE_DIR / "templates" / "campaigns").rglob("*.html")):
        text = path.read_text()
        for number in MEASURED.finditer(text):
            before = re.sub(r"{[{%].*?[%}]}", "", text[: number.start()])
            in_attribute = before.rfind("<") > before.rfind(">")
            writer = number[2].strip(" |").partition(":")[0]
            if not in_attribute and writer not in WRITERS:
                found.append((path.name, number[0]))
    assert found == []
