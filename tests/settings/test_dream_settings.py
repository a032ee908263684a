"""What cannot be a slot of the dreamer is refused where it is set, with the right form."""

import json

import pytest

from services.settings import Dream, Model, load


def test_slots_of_tasks_are_taken() -> None:
    loaded = load({"ANNALS_DREAM__SLOTS": '{"repeated_notes": "30 4 * * SUN"}', "ANNALS_DREAM__ZONE": "Europe/Berlin"})
    assert ([], {"repeated_notes": "30 4 * * SUN"}) == ([*loaded.problems], loaded.settings.dream.slots)


@pytest.mark.parametrize(
    ("variable", "value", "remedy"),
    [
        ("SLOTS", '{"repeated_notes": "0 25 * * *"}', 'such as "0 2 * * *"'),
        ("SLOTS", '{"repeated_notes": "02:00-06:00"}', "has 1 fields instead of 5"),
        ("SLOTS", '{"repeated_note": "0 2 * * *"}', "did you mean 'repeated_notes'?"),
        ("SLOTS", '{"x": ""}', "there are "),
        ("ZONE", "Berlin", "write one as `Europe/Berlin`"),
        ("ZONE", "../../etc/passwd", "there is no time zone"),
        ("ZONE", "Europe", "there is no time zone"),
        ("ZONE", "Europe/Berlin\0", "there is no time zone"),
        ("ZONE", "x" * 100_000, "there is no time zone"),
        ("ZONE", "+01:00", "there is no time zone"),
        *(
            ("SLOTS", json.dumps({"repeated_notes": line}), 'such as "0 2 * * *"')
            for line in (
                "60 * * * *",
                "@hourly",
                "0 2 * * * *",
                "0 2 * *",
                "* * * * 8",
                "0 0 30 2 *",
                "0 0 * 13 *",
                "-1 * * * *",
                "0 24 * * *",
                "*/0 * * * *",
                "5-1 * * * *",
                "0 2 * * SAN",
                "0 2 * FEX *",
                "a b c d e",
                "1.5 * * * *",
                "0-99999999999999 * * * *",
                ", * * * *",
                "0 2 * * #",
                "0 2 32 * *",
                "0,0," * 50_000 + "60 * * * *",
                "\u0660 2 * * \u0668",
                "\ud83d\ude00 * * * *",
                "every night",
                "02:00",
            )
        ),
        ("SLOTS", '{"": "0 2 * * *"}', "there is no task ''"),
        ("SLOTS", '{"../verify": "0 2 * * *"}', "there is no task"),
        ("SLOTS", '{"verify": 5}', "SLOTS"),
        ("SLOTS", '{"verify": null}', "SLOTS"),
        ("SLOTS", '["verify"]', "SLOTS"),
        ("SLOTS", "verify", "SLOTS"),
        *(
            (name, value, name)
            for name in ("IDLE_AFTER", "APART", "QUIET")
            for value in ("nan", "inf", "1e300", "-1", "x")
        ),
        *(("QUESTIONS", value, "QUESTIONS") for value in ("-1", "101", "1" * 5_000, "1.5", "true")),
        ("DOCUMENTS", '["docs/DESIGN.md"]', "give the name of one in Markdown, such as DESIGN.md"),
        ("DOCUMENTS", '["DESIGN.txt"]', "'DESIGN.txt' is no document"),
        ("DOCUMENTS", '["../DESIGN.md"]', "is no document that is looked after"),
        ("DOCUMENTS", '["C:DESIGN.md"]', "is no document that is looked after"),
        ("DOCUMENTS", '["secrets.md"]', "is no document that is looked after"),
        ("DOCUMENTS", '["a\\u202eb.md"]', "is no document that is looked after"),
        ("DOCUMENTS", '[".md"]', "is no document that is looked after"),
        ("DOCUMENTS", '[""]', "is no document that is looked after"),
        ("DOCUMENTS", json.dumps([f"{number}.md" for number in range(21)]), "20 are looked after at most"),
        ("DOCUMENTS", "DESIGN.md", "DOCUMENTS"),
    ],
)
def test_a_wrong_one_is_named_with_the_right_form_and_the_default_holds(variable: str, value: str, remedy: str) -> None:
    loaded = load({f"ANNALS_DREAM__{variable}": value})
    (problem,) = loaded.problems
    assert remedy in problem.line
    assert f"ANNALS_DREAM__{variable}" in problem.line
    assert Dream() == loaded.settings.dream


def test_an_empty_slot_switches_a_task_off() -> None:
    assert {"repeated_notes": ""} == load({"ANNALS_DREAM__SLOTS": '{"repeated_notes": ""}'}).settings.dream.slots


def test_documents_that_are_looked_after_are_named_each_once() -> None:
    loaded = load({"ANNALS_DREAM__DOCUMENTS": '["DESIGN.md", "Pläne.md", "DESIGN.md"]'})
    assert ((), ("DESIGN.md", "Pläne.md")) == (loaded.problems, loaded.settings.dream.documents)
    assert () == load({"ANNALS_DREAM__DOCUMENTS": "[]"}).settings.dream.documents


@pytest.mark.parametrize(
    "line", ["59 23 31 12 7", "0 2 * * mon-fri", "*/15 0-6/2 1,15 jan,JUL *", " 0  2 * * SUN ", "0 2 L * *"]
)
def test_a_line_of_cron_is_taken_as_it_is(line: str) -> None:
    loaded = load({"ANNALS_DREAM__SLOTS": json.dumps({"verify": line})})
    assert ((), {"verify": line}) == (loaded.problems, loaded.settings.dream.slots)


@pytest.mark.parametrize("name", ["DAILY_TOKENS", "DAILY_USD", "MONTHLY_TOKENS", "MONTHLY_USD"])
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "-inf", "1e400", "9" * 400, "x"])
def test_a_budget_that_is_none_is_named_and_the_default_holds(name: str, value: str) -> None:
    loaded = load({f"ANNALS_MODEL__{name}": value})
    (problem,) = loaded.problems
    assert f"ANNALS_MODEL__{name}" in problem.line
    assert Model() == loaded.settings.model
