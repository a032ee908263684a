"""What an answer says of how a hit is opened."""

import shlex
from xml.sax.saxutils import unescape

from services.domain.search.answer_text import call


def test_what_a_person_types_to_open_a_hit_is_one_command_whatever_it_is_called() -> None:
    session, message = "s1; touch sprung #", "it's $(id)"
    assert ["annals", "show", session, "--message", message] == shlex.split(
        unescape(call(session, "", message=message))
    )
    assert ["annals", "show", session, "1-4"] == shlex.split(unescape(call(session, "", start=1, end=4)))
