"""The body of a POST, held to the types of the serializer that the schema describes it with.

The serializers' own reading is more lenient: they take "5" for a number and 1 for a yes.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as fields

from knowledge.curation.errors import CurationError

# Field → the type of its values, and what is accepted; a field's own words count first.
KINDS: tuple[tuple[type[fields.Field], type | tuple[type, ...], str], ...] = (
    (fields.BooleanField, bool, "true, false"),
    (fields.IntegerField, int, "a whole number"),
    (fields.FloatField, (int, float), "a number"),
    (fields.ListField, list, "a list of texts"),
    (fields.DictField, dict, "an object of names and texts"),
)


def checked(body: dict[str, Any], shape: type[fields.Serializer]) -> dict[str, Any]:
    """The body. CurationError names a field that is unknown, missing or of another type.

    What a value may be beyond its type is for the step to say. A field's error message `accepted`
    says what a list, an object or a number has to be; a list's `max_length` is kept, too.
    """
    known = shape().fields
    for name in body:
        if name not in known:
            raise CurationError(name, f"accepted: {', '.join(known)}")
    for name, field in known.items():
        is_null = name in body and body[name] is None and field.allow_null
        if not is_null and (name in body or field.required):
            _check(name, field, body.get(name))
    return body


def _check(name: str, field: fields.Field, value: Any) -> None:
    found = next((kind for kind in KINDS if isinstance(field, kind[0])), None)
    if found is None:
        if not isinstance(value, str) or not (value or field.allow_blank):
            raise CurationError(name, "is needed, as a text")
        return
    _, types, usual = found
    accepted = f"accepted: {field.error_messages.get('accepted', usual)}"
    fits = isinstance(value, types) and (types is bool or not isinstance(value, bool))
    if types not in (list, dict):
        if not fits:
            raise CurationError(name, f"{value!r:.60}; {accepted}")
        return
    texts = value.values() if isinstance(value, dict) else value
    most = getattr(field, "max_length", None)
    if not fits or not all(isinstance(text, str) for text in texts) or len(value) > (most or 2**63):
        raise CurationError(name, accepted)
