"""Where a session begins its work, as facts about the project."""

from services.domain.tools.call import Call
from services.historian.core.rules.index import Index
from services.historian.core.rules.places import LONGEST, MOST, places
from services.historian.core.rules.steps import Step


def told(homes: dict[str, str], *texts: str) -> list[str]:
    index = Index(weights=dict.fromkeys(homes, 1.0), homes=homes, own=frozenset())
    return [fact.text for fact in places([Step(at, at, moves=(text,)) for at, text in enumerate(texts, 1)], [index])]


def test_the_names_that_the_agent_writes_are_told_by_folder_the_most_frequent_first() -> None:
    homes = {
        "openQuay": "src/quay.py",
        "quay.py": "src/quay.py",
        "closeQuay": "src/quay.py",
        "unwritten_name": "src/a.py",
    }
    assert ["`src/`: openQuay quay.py closeQuay"] == told(
        homes, "openQuay of quay.py", "openQuay, closeQuay, elsewhereName"
    )


def test_what_is_about_a_few_names_only_is_not_told() -> None:
    assert [] == told({"openQuay": "src/quay.py", "closeQuay": "src/quay.py"}, "openQuay closeQuay")


def test_a_file_in_no_folder_is_told_by_itself() -> None:
    names = ["closeQuay", "moorBoats", "openQuays"]
    assert ["`quay.py`: closeQuay moorBoats openQuays"] == told(dict.fromkeys(names, "quay.py"), " ".join(names))


def test_a_folder_that_is_full_goes_on_with_its_files() -> None:
    names = [f"openQuayOfHarbour{number}" for number in range(60)]
    found = told(dict.fromkeys(names, "src/quay.py"), " ".join(names))
    assert ["`src/`:", "`src/quay.py`:"] == [text.split()[0] for text in found]
    assert max(map(len, found)) <= LONGEST


def test_only_the_weightiest_places_are_told() -> None:
    homes = {f"openQuay{folder}x{n}": f"src{folder}/quay.py" for folder in range(9) for n in range(3)}
    assert MOST == len(told(homes, " ".join(homes)))


def test_names_in_calls_count_and_numbers_do_not() -> None:
    homes = {"openQuay": "src/a.py", "closeQuay": "src/a.py", "moorBoat": "src/a.py", "4711": "src/a.py"}
    index = Index(weights=dict.fromkeys(homes, 1.0), homes=homes, own=frozenset())
    call = Call("edit", "edit", arguments="openQuay closeQuay 4711 moorBoat", files=("src/a.py",))
    (fact,) = places([Step(1, 1, moves=(call,))], [index])
    assert ("CONFIG_VALUES", "`src/`: moorBoat openQuay closeQuay") == (fact.category, fact.text)
