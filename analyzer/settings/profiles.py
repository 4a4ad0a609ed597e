"""Reads and judges the profiles of one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel, ValidationError

from analyzer.settings.amounts import Form
from analyzer.settings.arguments import ARGUMENT_MODELS, SGLANG_ONLY, UTILIZATION_ARGUMENTS, VLLM_ONLY, expectation, snake_case
from analyzer.settings.errors import Problem, SettingsError
from analyzer.settings.model import Engine, Profile
from analyzer.settings.recognition import Recognised, kind
from analyzer.settings.yaml_nodes import MappingNode, Path, ScalarNode, effective_entries, plain, resolve


def read_profiles(file: Recognised) -> tuple[list[Profile], list[Problem]]:
    """The profiles of a file, and everything that is wrong with their arguments.

    An argument file is one profile, named after the file. Raises SettingsError when `profiles` is no mapping.
    """
    if file.form != "profiles":
        profile = _profile(PurePath(file.document.name).stem, file, file.path, file.root, file.root.entries[0].key.span.start)
        return [profile], list(_problems(profile))
    profiles: list[Profile] = []
    problems: list[Problem] = []
    for name, found in effective_entries(_section(file)).items():
        start = found.entry.key.span.start
        node = resolve(found.entry.value)
        if isinstance(node, ScalarNode) and node.value is None:  # a name with nothing behind it
            node = MappingNode((), False, node.span)
        if not isinstance(node, MappingNode):
            message = f"expected a mapping of arguments, found {kind(node)}"
            problems.append(Problem(file.document.name, file.document.line(start), f"profiles.{name}", message))
            continue
        profile = _profile(name, file, (*file.path, "profiles", name), node, start)
        profiles.append(profile)
        problems.extend(_problems(profile))
    return profiles, problems


def judge_arguments(values: Mapping[str, Any], form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The typed values of the known ones among these arguments, and for each wrong one what was expected."""
    typed: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for model in ARGUMENT_MODELS:
        try:
            typed |= _typed(model, values, form)
        except ValidationError as error:
            refused = expectation(error)
            wrong |= refused
            typed |= _typed(model, {key: value for key, value in values.items() if key not in refused}, form)
    return typed, wrong


def _typed(model: type[BaseModel], values: Mapping[str, Any], form: Form) -> dict[str, Any]:
    return model.model_validate(dict(values), context=form).model_dump(exclude_unset=True)


def _section(file: Recognised) -> MappingNode:
    section = effective_entries(file.root)["profiles"].entry
    listed = resolve(section.value)
    if not isinstance(listed, MappingNode) or not listed.entries:
        line = file.document.line(section.key.span.start)
        raise SettingsError.at(file.document.name, line, f"expected a mapping from names to profiles, found {kind(listed)}", "profiles")
    return listed


def _profile(name: str, file: Recognised, path: Path, node: MappingNode, start: int) -> Profile:
    entries = {snake_case(key): found for key, found in effective_entries(node).items()}
    values = {key: plain(found.entry.value) for key, found in entries.items()}
    typed, wrong = judge_arguments(values, file.form)
    arguments = {key: value for key, value in (values | typed).items() if key not in wrong}
    return Profile(name, file.form, typed.get("engine") or _engine(values), arguments, entries, file.document, path, node, start)


def _engine(values: Mapping[str, Any]) -> Engine | None:
    """The engine whose own arguments a profile uses, if it uses those of one engine only."""
    vllm, sglang = (bool(known & values.keys()) for known in (VLLM_ONLY, SGLANG_ONLY))
    if vllm == sglang:
        return None
    return "vllm" if vllm else "sglang"


def _problems(profile: Profile) -> Iterator[Problem]:
    values = {key: plain(found.entry.value) for key, found in profile.entries.items()}
    _, wrong = judge_arguments(values, profile.form)
    for key, message in wrong.items():
        yield Problem(profile.file, profile.line(key), _dotted(profile.place(key)), message)
    spelled: dict[str, str] = {}
    for entry in profile.node.entries:
        earlier = spelled.setdefault(snake_case(entry.key.text), entry.key.text)
        key, line = _dotted((*profile.path, entry.key.text)), profile.document.line(entry.key.span.start)
        if earlier != entry.key.text:
            yield Problem(profile.file, line, key, f"given twice: also spelt {earlier}")
        if profile.form == "sglang-arguments" and "_" in entry.key.text:
            dashed = entry.key.text.replace("_", "-")
            yield Problem(profile.file, line, key, f"SGLang puts -- before the key and knows no flag with underscores: expected {dashed}")
    shares = [key for key in UTILIZATION_ARGUMENTS if profile.value(key) is not None]
    if len(shares) > 1:
        message = f"{shares[0]} is given too, and both state a share of device memory: expected one of them"
        yield Problem(profile.file, profile.line(shares[1]), _dotted(profile.place(shares[1])), message)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
