"""The report: self-contained, escaped, and telling the verdict first."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from analyzer.analysis import Analysis, FactRecord, UnknownLine
from analyzer.outputs import render
from analyzer.outputs.html import FACTS, PICTURES, UNKNOWN_LINES
from tests.outputs.sample import HOSTILE, crash_analysis, hostile_analysis

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """The tags with their attributes, the text outside script and style, and a check that tags nest."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(convert_charrefs=True)
        self.source = render(analysis, "html")
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in {"dd", "dt", "h1", "h2", "h3", "h4", "li", "p", "td", "th"}:
            self.pieces.append(" ")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"script", "style"}:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(crash_analysis())


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(hostile_analysis())


def test_the_verdict_comes_first_then_what_to_do(page: Page) -> None:
    body = page.text.partition("(crash.log) ")[2]
    assert body.startswith(
        "failed while warming up vLLM 0.24.0, crash.log The KV cache has a fixed size, and that size does not fit Weights (16.44 GiB) and "
        "the pinned KV cache (4.84 GiB) leave 1.72 GiB of the 23.0 GiB that were free, and warming up needs more: an allocation of 272.00 "
        "MiB was refused with 149.06 MiB free. Cause pinned-kv-arena: certain What to do Lower kv_cache_memory_bytes to 3600000000 "
        "(3.35 GiB) Between 2900000000 (2.70 GiB) and 4300000000 (4.00 GiB)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "KV cache, pinned 4.84 GiB exact from the arguments, crash.log:4",
        "weights 16.44 GiB 16.435 to 16.445 GiB measured, crash.log:11",
        "Not logged, so absent here: activation peak, CUDA graphs.",
        "After at 25 229 197 312 bytes free the selector goes on to long_262k",
        "crash.log:2 [profiles] long_393k просит долю 0.95, свободно 23.50 из 31.84 -> прижато до 0.723",
        "The cause The pinned KV cache does not fit beside the weights",
        "Not proven by this: How much overhead this model needs on another card.",
        "Lower max_num_seqs to 64, at most 128: fewer requests at once need a smaller pool",
        "What merely followed The autotuner ran out of memory and fell back",
        "25 371 803 648to 25 571 033 088",
        "run-1 crash.log vLLM 0.24.0 long_393k profile chosen by the selector failed warming up",
        "vllm/graph-capture-too-large cuda_graphs run with VLLM_LOGGING_LEVEL=INFO until graphs are captured",
        "did not understand these lines of vLLM 0.24.0: 17: memory pool shrank by 12.5 GiB for no stated reason",
        "crash.log:11 WeightsLoaded run-1 TP0 weights 16.44 GiB; seconds 28.352517",
        "vram-postmortem 0.1.0",
    ],
)
def test_the_page_tells(page: Page, text: str) -> None:
    assert text in page.text


def test_the_diff_can_be_copied_whole(page: Page) -> None:
    code = page.source.partition('<code id="diff-0">')[2].partition("</code>")[0]
    assert re.sub(r"<[^>]*>", "", code) == crash_analysis().patches[0].diff
    assert "diff-0" in page.attributes("data-copies")


def test_a_hostile_log_adds_no_tag_and_no_attribute(page: Page, hostile: Page) -> None:
    shape = [(tag, sorted(attributes)) for tag, attributes in page.tags]
    added = [("span", ["class"])]  # its line in the diff
    assert sorted([*shape, *added]) == sorted((tag, sorted(attributes)) for tag, attributes in hostile.tags)


def test_a_hostile_log_is_shown_as_it_is(hostile: Page) -> None:
    shown = HOSTILE.replace("\x1b", r"\x1b").replace("\x07", r"\x07").replace("\u202e", r"\u202e").replace("\x00", r"\x00")
    shown = shown.replace("\x9b", r"\x9b").replace("\udc80", r"\udc80")
    assert hostile.text.count(shown) >= 10


def test_nothing_is_loaded_from_anywhere(hostile: Page) -> None:
    assert not {"img", "link", "iframe", "object", "embed", "base", "form", "video", "audio"} & {tag for tag, _ in hostile.tags}
    references = [
        value for name in ("src", "href", "xlink:href", "action", "srcset", "poster", "data") for value in hostile.attributes(name)
    ]
    assert references
    assert [value for value in references if not value.startswith("#")] == []
    styles = [*hostile.attributes("style"), hostile.source.partition("<style>")[2].partition("</style>")[0]]
    assert [style for style in styles if re.search(r"@import|url\((?!#)", style)] == []


def test_the_policy_allows_only_the_script_of_the_page(page: Page) -> None:
    script = page.source.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}';" in policy
    assert page.source.count("<script") == 1


def test_the_page_is_accessible(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert ("html", {"lang": "en"}) in page.tags
    assert {"header", "main", "footer", "title"} <= set(tags)
    identities = page.attributes("id")
    assert len(identities) == len(set(identities))
    named = [*page.attributes("aria-labelledby"), *(href.removeprefix("#") for href in page.attributes("href"))]
    assert set(named) <= set(identities)
    assert page.open == []


def test_long_lists_are_cut_short_and_say_so() -> None:
    facts = [FactRecord(kind="Statistics", input="a.log", line=number, run=None, rank=None, fields={}) for number in range(FACTS + 5)]
    unknown = [UnknownLine(line=number, text="memory") for number in range(UNKNOWN_LINES + 7)]
    text = Page(crash_analysis().model_copy(update={"facts": facts, "unknown_lines": unknown})).text
    assert f"{FACTS + 5} facts; the first {FACTS} are listed, the JSON output holds all" in text
    assert text.count("Statistics") == FACTS
    assert "and 7 more" in text


def test_only_the_first_ranks_get_a_picture_and_those_of_the_verdict_come_first() -> None:
    analysis = crash_analysis()
    failed = analysis.runs[0]
    served = failed.model_copy(update={"id": "run-0", "outcome": "served", "input": "pass.log"})
    wide = failed.model_copy(update={"ranks": [failed.ranks[0].model_copy(update={"rank": f"TP{n}"}) for n in range(PICTURES)]})
    page = Page(analysis.model_copy(update={"runs": [served, wide]}))
    assert [tag for tag, _ in page.tags].count("svg") == PICTURES
    assert page.text.index("Rank TP0 on cuda:0, crash.log") < page.text.index("Rank TP0 on cuda:0, pass.log")
