"""From files to settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from analyzer.settings.errors import Problem, SettingsError
from analyzer.settings.model import Profile, SelectionRule, Settings
from analyzer.settings.profiles import read_profiles
from analyzer.settings.recognition import recognise
from analyzer.settings.selection_section import read_selection
from analyzer.settings.yaml_document import read_document


def load_settings(paths: Sequence[Path]) -> Settings:
    """The settings in the given files together.

    A file is a profiles file (`profiles:`, with or without `selection:`), or the argument file of one engine, which
    becomes one profile named after the file. Raises SettingsError, listing every problem with file, line and key,
    for files that cannot be read or are neither, and for values that cannot be meant.
    """
    return parse_settings({str(path): _read(path) for path in paths})


def examine_settings(paths: Sequence[Path]) -> Settings:
    """As `load_settings`, but values that cannot be meant are left out and told in `problems`.

    Raises SettingsError only for files that cannot be read, or are no settings at all.
    """
    return _parse({str(path): _read(path) for path in paths})


def parse_settings(texts: Mapping[str, str]) -> Settings:
    """As `load_settings`, from the texts of the files by their names."""
    settings = _parse(texts)
    if settings.problems:
        raise SettingsError(settings.problems)
    return settings


def _parse(texts: Mapping[str, str]) -> Settings:
    files = [recognise(read_document(name, text)) for name, text in texts.items()]
    problems: list[Problem] = []
    profiles: dict[str, Profile] = {}
    for file in files:
        found, wrong = read_profiles(file)
        problems += wrong
        for profile in found:
            earlier = profiles.setdefault(profile.name, profile)
            if earlier is not profile:
                problems.append(_named_twice(profile, earlier))
    rule = SelectionRule()
    for file in files:
        stated, wrong = read_selection(file, profiles)
        problems += wrong
        if stated is not None and rule.file is not None:
            problems.append(Problem(file.document.name, stated.line, "selection", f"also in {rule.file}:{rule.line}: expected it once"))
        rule = stated or rule
    names = list(texts)
    problems.sort(key=lambda problem: (names.index(problem.file), problem.line or 0))
    forms = {file.form for file in files}
    form = forms.pop() if len(forms) == 1 else "profiles"
    return Settings({file.document.name: file.document for file in files}, profiles, rule, form, tuple(problems))


def replaced(settings: Settings, texts: Mapping[str, str]) -> Settings:
    """The settings as they would be if these files had these texts. Raises SettingsError as `parse_settings` does, for new problems."""
    changed = _parse({name: document.text for name, document in settings.documents.items()} | dict(texts))
    known = {(problem.file, problem.key, problem.message) for problem in settings.problems}
    new = [problem for problem in changed.problems if (problem.file, problem.key, problem.message) not in known]
    if new:
        raise SettingsError(new)
    return changed


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SettingsError.at(str(path), None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError.at(str(path), None, f"not UTF-8 text: byte {error.object[error.start]:#04x} at offset {error.start}") from error


def _named_twice(profile: Profile, earlier: Profile) -> Problem:
    message = f"a profile of this name is also in {earlier.file}:{earlier.document.line(earlier.start)}: expected each name once"
    return Problem(profile.file, profile.document.line(profile.start), profile.name, message)
