"""Words that say nothing of what a text is about."""

_ENGLISH = """
a about above after again against ain all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each else ever few for
from further get gets got had hadn has hasn have haven having he her here hers herself him himself his how however
i if in into is isn it its itself just ll let lets m ma may me might mightn more most must mustn my myself needn no
nor not now o of off on once one only or other our ours ourselves out over own per please re s same shall shan she
should shouldn so some such t than that the their theirs them themselves then there these they this those through
to too under until up upon us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn y yes yet you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_ENGLISH.split())
"""Of English; in other languages what is frequent weighs little anyway."""
