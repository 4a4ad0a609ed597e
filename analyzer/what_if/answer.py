"""What if: a question about the next start, put to the settings or to the log alone."""

from __future__ import annotations

from analyzer.analysis import WhatIf
from analyzer.rulebook.case import Case
from analyzer.what_if.log_question import answer_from_log
from analyzer.what_if.question import Question
from analyzer.what_if.settings_question import answer_from_settings


def answer(case: Case, question: Question) -> WhatIf:
    """To the log alone where there are no settings, or where the changes name no profile. Raises QuestionError or SettingsError."""
    if case.settings is None or question.is_about_the_log:
        return answer_from_log(case, question)
    return answer_from_settings(case, case.settings, question)
