"""The checks of commands, and the failures in their outputs."""

import pytest

from services.domain.tools.shell import categories_of, error_lines, shown_file


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx tsc --noEmit", ("typecheck",)),
        ("npm run typecheck", ("typecheck",)),
        (".venv/bin/python -m mypy services", ("typecheck",)),
        ("pyright", ("typecheck",)),
        ("pytest -q tests/lint_test.py", ("test",)),
        ("cd app && FORCE=1 npm test", ("test",)),
        ("pnpm --filter core test:unit", ("test",)),
        ("./node_modules/.bin/vitest run", ("test",)),
        ("go test ./...", ("test",)),
        ("cargo test", ("test",)),
        ("timeout 60 make test", ("test",)),
        ("ruff check .", ("lint",)),
        ("npx eslint src", ("lint",)),
        ("biome check", ("lint",)),
        ("cargo build", ("build",)),
        ("vite build", ("build",)),
        ("make", ("build",)),
        ("./gradlew assemble", ("build",)),
        ("npm run lint && npm test 2>&1 | tail -5", ("lint", "test")),
        ("grep -rn test src", ()),
        ("cat test.log", ()),
        ('git commit -m "fix test and lint"', ()),
        ("npm install jest", ()),
        ("uv pip install pytest", ()),
        ("cat > a.sh <<EOF\npytest\nEOF", ()),
        ("test -f build", ()),
        ('echo "pytest"', ()),
        ("", ()),
    ],
)
def test_what_a_command_checks(command: str, expected: tuple[str, ...]) -> None:
    assert expected == categories_of(command)


@pytest.mark.parametrize(
    "line",
    [
        "src/a.ts(3,4): error TS2322: Type 'a' is not assignable",
        "npm ERR! code 1",
        "Traceback (most recent call last):",
        "panic: runtime error: index out of range",
        "ValueError: no such name",
        "app.errors.NotFoundException: x",
    ],
)
def test_some_lines_are_an_error_of_any_command(line: str) -> None:
    assert (" ".join(line.split()),) == error_lines(f"fine\n{line}\nfine", is_checked=False)


@pytest.mark.parametrize("line", ["1 failed, 3 passed", "lint error in a.py", "Build failure", "unhandled exception"])
def test_others_are_one_only_of_a_command_that_checks(line: str) -> None:
    assert () == error_lines(line, is_checked=False)
    assert (line,) == error_lines(line, is_checked=True)


def test_that_there_were_none_is_no_error() -> None:
    assert () == error_lines("Found 0 errors.\nno failures\n3 passed, 0 failed", is_checked=True)


def test_the_first_five_lines_are_quoted() -> None:
    output = "\n".join(f"error {number}" for number in range(9))
    assert tuple(f"error {number}" for number in range(5)) == error_lines(output, is_checked=True)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("cat src/a.py", "src/a.py"),
        ("sed -n 1,20p src/a.py", "src/a.py"),
        ("cd app && head -5 README.md", "README.md"),
        ("cat a.py > b.py", ""),
        ("cat <<EOF a.py", ""),
        ("cat a.py >> b.py", ""),
        ("make test", ""),
    ],
)
def test_a_command_that_prints_a_file_and_writes_none_shows_it(command: str, file: str) -> None:
    assert file == shown_file(command)
