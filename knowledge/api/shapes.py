"""Serializers of records: their fields and schema follow from the types of what is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from rest_framework import serializers as fields

from knowledge.api.lists import RecordSerializer

PLAIN: dict[Any, type[fields.Field]] = {
    str: fields.CharField,
    int: fields.IntegerField,
    float: fields.FloatField,
    bool: fields.BooleanField,
    datetime: fields.DateTimeField,
    Any: fields.JSONField,
}
_SHAPES: dict[type, type[fields.Serializer]] = {}


def shape_of(
    name: str, record: type, attributes: str = "", **types: Any
) -> type[fields.Serializer]:
    """The serializer of a record, for records inside of others too.

    attributes: those to write, `name=attribute` where the name differs; all without any. types:
    of attributes that hold a time as text.
    """
    hints = get_type_hints(record)
    made: dict[str, Any] = {}
    for each in attributes.split() or hints:
        shown, _, attribute = each.partition("=")
        source = {"source": attribute} if attribute else {}
        hint = types.get(shown) or hints.get(attribute or shown)
        if not hint:
            hint = get_type_hints(getattr(record, attribute or shown).fget)["return"]
        made[shown] = _field(hint, **source)
    about = (record.__doc__ or "").partition("\n\n")[0]
    shape = type(f"{name}Serializer", (fields.Serializer,), {**made, "__doc__": about})
    _SHAPES[record] = shape
    return shape


def _field(hint: Any, **options: Any) -> fields.Field:
    parts = get_args(hint)
    if NoneType in parts:
        (inner,) = (part for part in parts if part is not NoneType)
        return _field(inner, allow_null=True, **options)
    kind = get_origin(hint) or hint
    if kind in PLAIN:
        return PLAIN[kind](**options)
    if kind in _SHAPES:
        return _SHAPES[kind](**options)
    if issubclass(kind, Enum):
        return fields.CharField(**options)
    if issubclass(kind, Mapping):
        plain = {} if parts[1] is Any else {"child": _field(parts[1])}
        return fields.DictField(**plain, **options)
    if issubclass(kind, Sequence) and parts[0] in _SHAPES:
        return _SHAPES[parts[0]](many=True, **options)
    if issubclass(kind, Sequence):
        return fields.ListField(child=_field(parts[0]), **options)
    raise TypeError(f"{hint}: accepted: plain types and records that have a shape")


def columns_of(
    name: str, rows: type, columns: str, about: str = "", **declared: Any
) -> type[fields.ModelSerializer]:
    """The serializer of a model's rows, or another one with further columns.

    rows: the model, or the serializer that it goes on from. declared: the fields of those columns
    that are written otherwise than the model says; `record`, a function of the row, finds what all
    of them are read from.
    """
    # A model may have a Meta too, that of an abstract one.
    before: Any = getattr(rows, "Meta", None) if issubclass(rows, fields.Serializer) else None
    mixed = (RecordSerializer,) if "record" in declared else ()
    bases = (*mixed, rows if before else fields.ModelSerializer)
    model, known = (before.model, before.fields) if before else (rows, ())
    meta = type("Meta", (), {"model": model, "fields": (*known, *columns.split())})
    return type(f"{name}Serializer", bases, {**declared, "Meta": meta, "__doc__": about or None})


def body_of(name: str, about: str = "", /, **declared: fields.Field) -> type[fields.Serializer]:
    """The serializer of an object that is no row, such as what a POST takes."""
    return type(f"{name}Serializer", (fields.Serializer,), {**declared, "__doc__": about or None})


def texts(names: str, **options: Any) -> dict[str, fields.CharField]:
    """Fields that hold a text each, with the same options."""
    return {name: fields.CharField(**options) for name in names.split()}


def person_name(field: str) -> fields.CharField:
    """The name of the person in this column; null where it is nobody here."""
    return fields.CharField(source=f"{field}.username", allow_null=True, default=None)
