"""The messages of a program are found in its source, however they are written, and come out as templates."""

from __future__ import annotations

import textwrap
from pathlib import PurePosixPath

import pytest

from analyzer.conformance.templates import Template, templates_of
from analyzer.conformance.words import speaks_of_memory

FILE = PurePosixPath("vllm/worker.py")


def found(source: str) -> list[tuple[str, str]]:
    """Level and text of each message."""
    return sorted((template.level, template.text) for template in templates_of(textwrap.dedent(source), FILE))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('logger.info("Free memory: %.2f GiB on %s", free / GiB, device)', "Free memory: {free_GiB:.2f} GiB on {device}"),
        ('logger.info(f"Free memory: {self.free / GiB:.2f} GiB")', "Free memory: {free_GiB:.2f} GiB"),
        ('logger.info("Free memory: {:.2f} GiB of {total}".format(free, total=all_of_it))', "Free memory: {free:.2f} GiB of {all_of_it}"),
        ('logger.info("Free memory: {0} GiB, {0:d} B".format(free))', "Free memory: {free} GiB, {free:d} B"),
        ('logger.info("Free memory: %(free)d GiB, 5%%" % {"free": self.free})', "Free memory: {free:d} GiB, 5%"),
        ('logger.info("Free memory: %s GiB" % free)', "Free memory: {free} GiB"),
        ('logger.info("Free memory: %r of %5d" % (free, total))', "Free memory: {free!r} of {total:5d}"),
        ('logger.info("Free " "memory: " f"{free!r}")', "Free memory: {free!r}"),
        ('logger.info("Free memory: " + str(free) + " GiB")', "Free memory: {str_free} GiB"),
        ('logger.info("Free memory: {%s}", free)', "Free memory: {{{free}}}"),
        ('logger.info("Free memory", free)', "Free memory {free}"),
        ('logger.info(textwrap.dedent("   Free memory "))', "Free memory"),
        ("logger.info(f\"Free memory: {'low'}\")", "Free memory: low"),
        ('logger.info(f"Free memory: {free:{width}}")', "Free memory: {free}"),
    ],
)
def test_a_text_in_any_form_is_one_template(call: str, text: str):
    assert found(call) == [("info", text)]


@pytest.mark.parametrize(
    ("statement", "level"),
    [
        ('self.logger.warning_once("out of memory")', "warning"),
        ('init_logger(__name__).exception("out of memory")', "exception"),
        ('logging.critical("out of memory")', "critical"),
        ('log_info_on_rank0(logger, "out of memory")', "info"),
        ('print("out of memory")', "print"),
        ('warnings.warn("out of memory", UserWarning)', "warning"),
        ('raise ValueError("out of memory")', "exception ValueError"),
        ('raise errors.PoolFull("out of memory") from error', "exception PoolFull"),
        ('future.set_exception(RuntimeError("out of memory"))', "exception RuntimeError"),
        ('assert free, "out of memory"', "exception AssertionError"),
    ],
)
def test_every_way_to_say_something(statement: str, level: str):
    assert found(statement) == [(level, "out of memory")]


@pytest.mark.parametrize(
    "statement",
    [
        'parser.add_argument("--swap", help="out of memory")',
        'request.info("out of memory")',
        '"out of memory"',
        "raise ValueError",
        "raise",
        "logger.info()",
        "logger.info(free)",
        'logger.info("the sun shines on %s", memory)',
        'logger.info(f"{memory}")',
    ],
)
def test_what_is_no_message_about_memory(statement: str):
    assert found(statement) == []


def test_alternatives_are_messages_each():
    assert found("""
        def check(self, draft):
            message = f"{'Draft' if draft else 'Target'} pool out of memory"
            if draft:
                message += f", {self.free} left"
            raise ValueError(message if draft else "No memory")
    """) == [
        ("exception ValueError", "Draft pool out of memory"),
        ("exception ValueError", "Draft pool out of memory, {free} left"),
        ("exception ValueError", "No memory"),
        ("exception ValueError", "Target pool out of memory"),
        ("exception ValueError", "Target pool out of memory, {free} left"),
    ]


def test_a_name_is_looked_up_where_it_is_set():
    assert found("""
        MESSAGE = "module memory"
        def one():
            hint = "one"
            logger.error(MESSAGE + " of %s", hint)
        def two(hint):
            logger.error(MESSAGE + " of %s", hint)
    """) == [("error", "module memory of one"), ("error", "module memory of {hint}")]


def test_a_value_that_may_be_a_text_is_either():
    assert found('logger.info("memory on %s", name or "unknown")') == [("info", "memory on {name}")]
    assert found("logger.info(f\"memory on {name or 'unknown'}\")") == [("info", "memory on unknown"), ("info", "memory on {name}")]


def test_names_that_stand_for_themselves_come_to_an_end():
    assert found('text = text + " memory"\nother = text\ntext = other\nlogger.info(f"{text} free memory")') != []


def test_a_message_knows_its_file():
    assert templates_of('print("no memory")', FILE) == {Template("vllm/worker.py", "print", "no memory")}


@pytest.mark.parametrize(
    "text",
    [
        "{x:.2f} GiB left",
        "KV Cache is allocated",
        "avail mem={x}",
        "CUDA OOM",
        "swap space",
        "No free blocks",
        "Out of space",
        "Capture CUDA graph",
    ],
)
def test_words_of_memory(text: str):
    assert speaks_of_memory(text)


@pytest.mark.parametrize("text", ["{memory} is fine", "random access", "out of range", "the program", "GIBBON", "kvcached_library"])
def test_other_words(text: str):
    assert not speaks_of_memory(text)
