"""The projections that are folds of the domain, of memory and of the plan: to define one here registers it."""

from services.domain import aliases, learned_limits, project_settings
from services.domain.window import Learned
from services.memory import book, profiles, remembered
from services.plan.session import state
from services.responder.projections.base import Projection

ALIASES = Projection("global", aliases.Aliases(), aliases.evolve, (aliases.NOUN,))
"""The names of projects."""
LEARNED_LIMITS = Projection("global", Learned(), learned_limits.evolve)
"""The limits of models that all sessions have learned."""
PROFILES = Projection("global", profiles.Profiles(), profiles.evolve, (profiles.NOUN,))
"""People's profiles, and the owners of sessions."""
BOOK = Projection("project", remembered.Remembered(), remembered.evolve, book.NOUNS)
"""A project's memory book, and what has changed in it since any position: for heads, notices and questions."""
SETTINGS = Projection("project", project_settings.ProjectSettings(), project_settings.evolve, ("settings",))
"""A project's own settings, in all their versions: a session uses those of its last rebase."""
SESSION = Projection("session", state.Session(), state.evolve)
"""A session: its conversation, what was asked of it, what was used, and the plan as served."""
