"""What a project has set for itself, in all its versions: a session goes on with the values of its last rebase."""

from services.domain.project_settings import ProjectSettings, evolve
from services.responder.projections.base import Projection

SETTINGS = Projection("project", ProjectSettings(), evolve, ("settings",))
