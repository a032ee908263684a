"""What a person forbids or lays down is found in their own words, and comes back as it was written."""

import pytest

from services.domain.texts.rule_sentences import laid_down


@pytest.mark.parametrize(
    "text",
    [
        "Do not change any file.",
        "Don't push without asking me.",
        "Never force!",
        "Always use tabs.",
        "Only edit files below tests/.",
        "Fix the bug but do not touch the API.",
        "You must not add dependencies.",
        "Leave the lock file alone, please.",
        "Bitte nie die Datei config.yml ändern.",
        "Lass die Migrationen in Ruhe.",
        "Ne modifiez pas le schéma.",
        "No toques la base de datos.",
        "Нельзя менять схему.",
        "Не трогай миграции.",  # noqa: RUF001 - words of another script
        "不要修改配置文件。",
        "設定ファイルを変更しないで。",
        "설정 파일을 바꾸지 마.",
    ],
)
def test_a_rule_is_found_among_other_sentences(text: str) -> None:
    assert (text,) == laid_down(f"Read the notes. {text} Repeat what they say.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Read the notes.",
        "I don't know why.",
        "Can you never stop?",
        "```\nnever do this\n```",
        "> Always quote.",
        "Here is the mail:\nNever answer anybody again.",
        "<log>\nDo not retry.\n</log>",
        "never " * 400,
    ],
)
def test_what_is_none_or_somebody_else_s_is_left(text: str) -> None:
    assert () == laid_down(text)


def test_a_repeated_sentence_is_one_rule() -> None:
    assert ("Never push.",) == laid_down("Never push. Go on.\n- Never push.")
