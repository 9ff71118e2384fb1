"""What a person fills in to record a lesson, to ask a question, and to decide between two sides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms

from knowledge.curation.errors import CurationError
from knowledge.experience.attempts.disagreements import Consequence
from knowledge.experience.lessons.gaps import LONGEST_QUERY, LONGEST_QUESTION, NewGap
from knowledge.experience.lessons.new import LONGEST, MEANS, NewLesson, known_value
from knowledge.forms.decide import REASON, DecisionForm, ReasonForm, why_field
from knowledge.models import Experience, Lesson

UUID_IN_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
ROUND_IN_TEXT = re.compile(r"/c/(\d{1,15})/r/(\d{1,9})\b")
LONGEST_EVIDENCE = 4000
SCOPE_HELP = {
    "op": "matmul, softmax, …",
    "dtype": "float16, float32, …",
    "backend": "triton, cuda, cpp, …",
    "platform": "One exact product, as the wiki names it.",
    "arch": "sm_90, gfx942, …",
    "strategy": "Attempts at this strategy confirm or contradict the lesson by themselves.",
}
ONE_ANSWER = "accepted: the address or the id of one approved lesson or of one attempt"


def attempts_in(text: str) -> list[str]:
    """The uuids of the attempts that a text names, by their ids or by the addresses of rounds.

    CurationError names a round without an attempt, and text that names nothing.
    """
    found = UUID_IN_TEXT.findall(text)
    for campaign, number in ROUND_IN_TEXT.findall(text):
        entry = Experience.objects.filter(campaign=int(campaign), round=int(number)).first()
        if entry is None:
            raise CurationError(
                "evidence",
                f"round {number} of campaign {campaign} is no recorded attempt; "
                "accepted: a round that is closed",
            )
        found.append(str(entry.uuid))
    if text.strip() and not found:
        raise CurationError("evidence", "accepted: ids of attempts, or addresses of rounds")
    return list(dict.fromkeys(uuid.lower() for uuid in found))


class ScopedForm(forms.Form):
    """A form with the fields of a scope; each empty one is any."""

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        for name in Lesson.SCOPE:
            widget = forms.TextInput(attrs={"list": f"known-{name}", "autocomplete": "off"})
            self.fields[name] = forms.CharField(
                required=False, max_length=120, widget=widget, help_text=SCOPE_HELP[name]
            )

    @property
    def scope_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in Lesson.SCOPE]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        for name in Lesson.SCOPE:
            self._take(name, known_value, name, said.get(name, ""))
        return self.cleaned_data

    def _take(self, name: str, read: Any, *given: Any) -> None:
        """Read a field, and say at it what is wrong with it."""
        if name in self.errors:
            return
        try:
            self.cleaned_data[name] = read(*given)
        except CurationError as error:
            self.add_error(name, error.message)


class LessonForm(ScopedForm):
    """All of a lesson. `seen` and `why` matter for an edit only."""

    avoid = forms.ChoiceField(
        label="It says",
        choices=[("", "what to do"), ("1", "what not to do")],
        required=False,
        widget=forms.RadioSelect,
    )
    evidence = forms.CharField(
        label="Attempts that it rests on",
        required=False,
        max_length=LONGEST_EVIDENCE,
        help_text="Ids of attempts or addresses of rounds, one a line. An approval needs one.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    why = why_field(required=False)
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, auto_id="lesson-%s", **kwargs)
        for name, most in LONGEST.items():
            self.fields[name] = forms.CharField(
                max_length=most,
                help_text=f"{MEANS[name]}.",
                widget=forms.Textarea(attrs={"rows": 2 if name == "takeaway" else 3}),
                error_messages={"required": f"it is empty; accepted: {MEANS[name].lower()}"},
            )

    @property
    def text_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in LONGEST]

    def clean_avoid(self) -> bool:
        return bool(self.cleaned_data["avoid"])

    def clean(self) -> dict[str, Any]:
        super().clean()
        self._take("evidence", attempts_in, self.cleaned_data.get("evidence", ""))
        return self.cleaned_data

    def lesson(self, campaign: int | None = None) -> NewLesson:
        """What was filled in; only of a valid form."""
        said = self.cleaned_data
        names = (*LONGEST, *Lesson.SCOPE, "avoid", "evidence")
        return NewLesson(**{name: said[name] for name in names}, campaign=campaign)


class GapForm(ScopedForm):
    question = forms.CharField(
        max_length=LONGEST_QUESTION,
        help_text="One question that an attempt or a lesson could answer.",
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "it is empty; accepted: what you would like to know"},
    )
    query = forms.CharField(
        required=False, max_length=LONGEST_QUERY, widget=forms.HiddenInput, label="Search"
    )

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, auto_id="gap-%s", **kwargs)

    def gap(self) -> NewGap:
        """What was filled in; only of a valid form."""
        names = ("question", "query", *Lesson.SCOPE)
        return NewGap(**{name: self.cleaned_data[name] for name in names})


class AnswerForm(DecisionForm):
    answer = forms.CharField(
        label="Lesson or attempt",
        max_length=500,
        help_text="Its address or its id.",
        error_messages={"required": ONE_ANSWER},
    )
    why = why_field(required=False)

    def clean_answer(self) -> dict[str, Lesson | Experience]:
        keys = UUID_IN_TEXT.findall(self.cleaned_data["answer"])
        lesson = Lesson.objects.filter(uuid__in=keys).first()
        entry = Experience.objects.filter(uuid__in=keys).first()
        if len(keys) != 1 or not (lesson or entry):
            raise forms.ValidationError(ONE_ANSWER)
        return {"lesson": lesson} if lesson else {"entry": entry}  # type: ignore[dict-item]


class DecideForm(ReasonForm):
    """What follows, of what may follow, and the decision in words."""

    consequence = forms.ChoiceField(widget=forms.RadioSelect, label="What follows")
    field_order = ["seen", "consequence", "why"]

    def __init__(
        self, data: Any = None, *, offered: Iterable[tuple[Consequence, str]], **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        choices = [(each.value, words) for each, words in offered]
        accepted = f"accepted: {', '.join(words for _, words in choices)}"
        self.fields["consequence"].choices = choices  # type: ignore[attr-defined]
        self.fields["consequence"].error_messages |= {
            "required": accepted,
            "invalid_choice": accepted,
        }
        self.fields["why"].label = "Why, or under which condition both stand"
        self.fields["why"].error_messages["required"] = REASON
