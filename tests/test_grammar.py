"""Grammar files as data: which rules are messages, what gives them away, and what is wrong with a broken file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lark import Lark

from analyzer import grammar
from analyzer.grammar import Anchor, GrammarFileError, Grammars, load_grammars

COMMON = r"""
size: NUMBER UNIT
NUMBER: /\d+(?:\.\d+)?/
UNIT: /[KMG]iB/
WHITESPACE: /[ \n]+/
"""
IMPORT = "%import .common (size, WHITESPACE)\n%ignore WHITESPACE\n"

Loader = Callable[..., Grammars]


@pytest.fixture
def load(tmp_path: Path) -> Loader:
    """Grammars from texts: load(vllm='...') is a folder with common.lark and vllm.lark."""

    def from_texts(**files: str) -> Grammars:
        folder = tmp_path / "grammars"
        folder.mkdir(exist_ok=True)
        for name, text in {"common": COMMON, **files}.items():
            (folder / f"{name}.lark").write_text(text if name in ("common", "prefix") else IMPORT + text, encoding="utf-8")
        return load_grammars(folder, cache=tmp_path / "cache")

    return from_texts


def leading(*literals: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(literal, leads=True) for literal in literals)


def inside(*literals: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(literal, leads=False) for literal in literals)


def test_a_message_is_a_rule_that_no_other_rule_uses(load: Loader):
    grammars = load(
        vllm='weights_memory: "Model loading took" weights _rest?\n_rest: "on" device\nweights: size\ndevice: "device" size\n',
        sglang='pool_end: "Memory pool end." free\nfree: size\n',
    )
    assert {message.kind: (message.family, message.fields) for message in grammars.messages.values()} == {
        "weights_memory": ("vllm", frozenset({"weights", "device"})),
        "pool_end": ("sglang", frozenset({"free"})),
    }


def test_a_message_may_use_itself(load: Loader):
    assert load(a='list: "and then" size list?\n').messages["list"].fields == {"size", "list"}


def test_each_message_is_a_parser_of_its_own(load: Loader):
    messages = load(a='one: "hello" size\n\ntwo: "hello" "world"\n').messages
    assert messages["one"].parser.parse("hello 3 GiB").data == "one"
    assert messages["two"].parser.parse("hello world").data == "two"


ANCHORS = [
    ("the literal at the beginning", 'm: "Model loading took" size "a much longer literal"', leading("Model loading took")),
    ("too short a beginning: the longest literal", 'm: "GPU" size "has a capacity of" size "free"', inside("has a capacity of")),
    ("nothing longer: the beginning after all", 'm: "GPU" size "MB"', leading("GPU")),
    ("a field in front", 'm: size "out of" size', inside("out of")),
    ("one for each wording", 'm: "first wording" size | "other" | size "third"', (*leading("first wording", "other"), *inside("third"))),
    ("an optional part gives nothing", 'm: "it may be here"? "GPU" size "is there"', inside("is there")),
    ("nor does a repeated one that may be missing", 'm: ("again" size)* "is there"', inside("is there")),
    ("one that is there at least once does", 'm: ("again and again" size)+', leading("again and again")),
    ("wordings in brackets", 'm: ("first way" | "second way") size', leading("first way", "second way")),
    ("through rules", 'm: a size\na: b\nb: "deep down"', leading("deep down")),
    ("through terminals", 'm: START size\nSTART: "a terminal"', leading("a terminal")),
    ("a terminal of wordings", 'm: START size\nSTART: "one way" | "another"', leading("one way", "another")),
    ("plain words before plain words", "m: START size\nSTART: /loading (?=weights)/", leading("loading weights")),
    ("a pattern gives nothing", 'm: /[a-z]+/ "known words"', inside("known words")),
    ("nor does a literal in any case", 'm: "Loading"i "known words"', inside("known words")),
    ("escapes", r'm: "it is \"quoted\" \u2014 caf\xe9" size', leading('it is "quoted" \u2014 café')),
    ("only the first line of a literal", r'm: "first line \nsecond line" size', leading("first line")),
    ("the same for two wordings stands once", 'm: "same words" size | "same words"', leading("same words")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "anchors"), [case[1:] for case in ANCHORS], ids=[case[0] for case in ANCHORS])
def test_what_a_message_is_found_by(load: Loader, rule: str, anchors: tuple[Anchor, ...]):
    assert load(a=f"{rule}\n").messages["m"].anchors == anchors


def test_messages_may_share_an_anchor(load: Loader):
    grammars = load(a='one: "hello" size\n\ntwo: size "hello"\n')
    assert {(message.kind, leads) for message, leads in grammars.by_anchor["hello"]} == {("one", True), ("two", False)}


BROKEN = [
    ("a bracket left open", 'm: "hello" (size\nn: "x"\n', r"a\.lark:3: .*_RPAR"),
    ("two rules on one line", 'm: "hello" size size: NUMBER\n', r"a\.lark:3: "),
    ("an unknown rule", '\nm: "hello" sizze\n', r"a\.lark:4: .*sizze"),
    ("an unknown file", '%import .nothing (x)\nm: "hello"\n', r"a\.lark:3: .*nothing\.lark"),
    ("a rule that the other file lacks", '\n%import .common (nosuch)\nm: "hello" nosuch\n', r"a\.lark:4: .*nosuch"),
    ("no literal", "\n\nm: size\n", r"a\.lark:5: .*'m' has no literal text"),
    ("a wording without literal", 'm: "hello"\n | size\n', r"a\.lark:3: .*'m' has no literal text"),
]


@pytest.mark.parametrize(("text", "complaint"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_file_is_named_with_its_line(load: Loader, text: str, complaint: str):
    with pytest.raises(GrammarFileError, match=f"(?s){complaint}"):
        load(a=text)


def test_a_kind_of_message_has_one_file(load: Loader):
    with pytest.raises(GrammarFileError, match=r"b\.lark:4: message 'm' is already defined in a\.lark"):
        load(a='m: "hello"\n', b='\nm: "bye"\n')


def test_a_message_that_cannot_become_a_parser_is_named(load: Loader):
    message = load(a='m: "hello" field\nfield: /[/\n').messages["m"]
    with pytest.raises(GrammarFileError, match=r"a\.lark: message 'm': "):
        _ = message.parser


def test_a_file_in_another_encoding(tmp_path: Path):
    (tmp_path / "a.lark").write_bytes('m: "café"\n'.encode("latin-1"))
    with pytest.raises(GrammarFileError, match=r"a\.lark:1: .*utf-8"):
        load_grammars(tmp_path, cache=tmp_path)


def test_an_empty_folder(tmp_path: Path):
    with pytest.raises(GrammarFileError, match="no grammar files"):
        load_grammars(tmp_path, cache=tmp_path)


def test_prefixes_are_patterns_in_the_order_of_the_file(load: Loader):
    prefixes = load(prefix=r"LINE_B: /\[rank(?P<gpu>\d+)\]: ?/" + "\n" + r"LINE_A: /a\/b/" + "\n").prefixes
    assert list(prefixes) == ["LINE_B", "LINE_A"]
    found = prefixes["LINE_B"].match("[rank3]: text")
    assert found is not None
    assert found["gpu"] == "3"
    assert prefixes["LINE_A"].match("a/b")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\nLINE_X: /a/ /b/\n", r"prefix\.lark:2: LINE_X must be one regular expression"),
        ("\nLINE_X: /a/i\n", r"prefix\.lark:2: LINE_X must be one regular expression without flags"),
        ('LINE_A: /a/\nLINE_X: "a"\n', r"prefix\.lark:2: LINE_X must be one regular expression"),
        ("LINE_X: /(a/\n", r"prefix\.lark:1: LINE_X: .*unterminated"),
    ],
)
def test_a_prefix_is_one_pattern(load: Loader, text: str, complaint: str):
    with pytest.raises(GrammarFileError, match=complaint):
        load(prefix=text)


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of which the grammars were built, and not taken from the cache."""
    built: list[Path] = []
    original = grammar._build

    def build(folder: Path, sources: dict[str, str]) -> Grammars:
        built.append(folder)
        return original(folder, sources)

    monkeypatch.setattr(grammar, "_build", build)
    return built


def test_grammars_are_built_once(load: Loader, builds: list[Path]):
    first, second = load(a='m: "hello" size\n'), load(a='m: "hello" size\n')
    assert len(builds) == 1
    assert second == first
    assert second.messages["m"].parser.parse("hello 3 GiB").data == "m"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages whose parsers were compiled, and not taken from the cache."""
    kinds: list[str] = []
    original = grammar.Message._compiled

    def compile_message(message: grammar.Message) -> Lark:
        kinds.append(message.kind)
        return original(message)

    monkeypatch.setattr(grammar.Message, "_compiled", compile_message)
    return kinds


def parsed(grammars: Grammars, text: str) -> list[str]:
    return [str(part) for part in grammars.messages["m"].parser.parse(text).scan_values(lambda _: True)]


def test_a_parser_is_compiled_once_and_only_when_it_is_needed(load: Loader, compiled: list[str]):
    source = 'm: "hello" size\nn: "goodbye" size\n'
    assert parsed(load(a=source), "hello 3 GiB") == parsed(load(a=source), "hello 3 GiB") == ["3", "GiB"]
    assert compiled == ["m"]


def test_a_parser_of_other_grammars_is_not_taken(load: Loader, compiled: list[str]):
    assert parsed(load(a='m: "hello" size\n'), "hello 3 GiB") == ["3", "GiB"]
    assert parsed(load(a='m: "hello" size size\n'), "hello 3 GiB 4 GiB") == ["3", "GiB", "4", "GiB"]
    assert compiled == ["m", "m"]


def test_a_damaged_parser_is_compiled_anew(load: Loader, compiled: list[str], tmp_path: Path):
    source = 'm: "hello" size\n'
    parsed(load(a=source), "hello 3 GiB")
    (stored,) = (tmp_path / "cache").glob("*-m.pickle")
    stored.write_bytes(b"not what was written")
    assert parsed(load(a=source), "hello 3 GiB") == ["3", "GiB"]
    assert compiled == ["m", "m"]


def test_a_cache_that_cannot_be_written_only_costs_time(load: Loader, compiled: list[str], tmp_path: Path):
    (tmp_path / "cache").write_text("not a folder", encoding="utf-8")
    assert parsed(load(a='m: "hello" size\n'), "hello 3 GiB") == ["3", "GiB"]
    assert compiled == ["m"]


def test_a_changed_file_is_built_anew(load: Loader, builds: list[Path]):
    load(a='m: "hello" size\n')
    assert load(a='m: "goodbye" size\n').messages["m"].anchors == leading("goodbye")
    load(a='m: "goodbye" size\n', common=COMMON + "\n// changed\n")
    load(a='m: "goodbye" size\n', prefix="LINE_A: /a/\n")
    assert len(builds) == 4


def test_a_damaged_cache_is_built_anew(load: Loader, builds: list[Path], tmp_path: Path):
    load(a='m: "hello" size\n')
    for stored in (tmp_path / "cache").iterdir():
        stored.write_bytes(b"not what was written")
    assert load(a='m: "hello" size\n').messages["m"].anchors == leading("hello")
    assert len(builds) == 2


def test_without_a_home_grammars_are_built_each_time(load: Loader, builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    load(a='m: "hello" size\n')
    monkeypatch.setattr(grammar, "cache_folder", lambda: None)
    assert load_grammars(tmp_path / "grammars").messages["m"].kind == "m"
    assert load_grammars(tmp_path / "grammars").messages["m"].kind == "m"
    assert len(builds) == 3
