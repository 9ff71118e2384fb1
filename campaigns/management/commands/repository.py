"""`repository new|list|show|submit|run|patch|bundle|stop`: see `campaigns.repositories.command`."""

from campaigns.repositories.command import RepositoryCommand as Command

__all__ = ["Command"]
