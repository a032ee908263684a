"""The projection of a project's own settings, in all their versions: a session uses those of its last rebase."""

from services.domain.project_settings import ProjectSettings, evolve
from services.responder.projections.base import Projection

SETTINGS = Projection("project", ProjectSettings(), evolve, ("settings",))
