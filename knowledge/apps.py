"""The knowledge app: documents, the facts read from them, and the lines that prove them."""

from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    label = "knowledge"
