"""Credentials go, everything else stays, in time linear in the text."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.analysis import Evidence
from analyzer.outputs.redaction import redact, redact_value, redacted
from tests.outputs.sample import crash_analysis, hostile_analysis

# Joined from halves, so that no scanner takes the examples for leaked credentials.
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HF = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7x+/=\n-----END RSA PRIVATE " + "KEY-----"

SECRETS = [
    (f"login with {HF}.", "login with [redacted:huggingface-token]."),
    ("client sk-" + "proj-abcdef0123456789abcd", "client [redacted:api-key]"),
    ("AKIA" + "IOSFODNN7EXAMPLE", "[redacted:aws-access-key]"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted:api-key]"),
    (GITHUB, "[redacted:github-token]"),
    ("github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuv", "[redacted:github-token]"),
    ("gho_" + "16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github-token]"),
    ("glpat-" + "abcDEF123456ghiJKL78", "[redacted:gitlab-token]"),
    (SLACK, "[redacted:slack-token]"),
    ("AIza" + "SyA1234567890abcdefghijklmnopqrstuv", "[redacted:google-key]"),
    ("nvapi-" + "abcdefghijklmnopqrstuvwxyz012345", "[redacted:nvidia-key]"),
    (f"cookie {JWT};", "cookie [redacted:jwt];"),
    ("curl -H 'Authorization: Bearer token-abc123'", "curl -H 'Authorization: [redacted:authorization]'"),
    ("{'Authorization': 'Basic dXNlcjpwYXNz'}", "{'Authorization': '[redacted:authorization]'}"),
    ("sent bearer abcdef123456", "sent bearer [redacted:bearer-token]"),
    ("--extra-index-url https://__token__:p@ss@pypi.corp/simple", "--extra-index-url https://[redacted:url-credentials]@pypi.corp/simple"),
    ("redis://:hunter2@cache:6379/0", "redis://[redacted:url-credentials]@cache:6379/0"),
    (
        "GET /m?X-Amz-Signature=deadbeef&part=3&api_key=abc&max=4",
        "GET /m?[redacted:url-signature]&part=3&api_key=[redacted:api-key]&max=4",
    ),
    ("vllm serve m --api-key X --port 8000", "vllm serve m --api-key [redacted:api-key] --port 8000"),
    ("--api-key=X --port=8000", "--api-key=[redacted:api-key] --port=8000"),
    ("['--api-key', 'X', '--port', '8000']", "['--api-key', '[redacted:api-key]', '--port', '8000']"),
    ("args:\n- --hf-token\n- X\n- --port\n- 8000", "args:\n- --hf-token\n- [redacted:token]\n- --port\n- 8000"),
    ("ServerArgs(api_key='X', max_total_tokens=4096)", "ServerArgs(api_key='[redacted:api-key]', max_total_tokens=4096)"),
    ("non-default args: {'api_key': ['a', 'b'], 'seed': 0}", "non-default args: {'api_key': [redacted:api-key], 'seed': 0}"),
    ("api_key=['a','b'], seed=0", "api_key=[redacted:api-key], seed=0"),
    (r"{\"api_key\": \"X\", \"n\": 3}", r"{\"api_key\": \"[redacted:api-key]\", \"n\": 3}"),
    (r'"api_key": "abc\"def", "n": 3', '"api_key": "[redacted:api-key]", "n": 3'),
    ("HF_TOKEN=abc WANDB_API_KEY=0123 N=1", "HF_TOKEN=[redacted:token] WANDB_API_KEY=[redacted:api-key] N=1"),
    ("environ({'HUGGING_FACE_HUB_TOKEN': 'abc', 'N': '1'})", "environ({'HUGGING_FACE_HUB_TOKEN': '[redacted:token]', 'N': '1'})"),
    ("DB_PASSWORD=ab,cd;ef", "DB_PASSWORD=[redacted:password]"),
    ("MY_SECRET_THING=foo", "MY_SECRET_THING=[redacted:secret]"),
    ("password: hunter2, user: me", "password: [redacted:password], user: me"),
    ("ssl_keyfile_password='p4', ssl_keyfile='/etc/key.pem'", "ssl_keyfile_password='[redacted:password]', ssl_keyfile='/etc/key.pem'"),
    ("- name: HF_TOKEN\n  value: abc", "- name: HF_TOKEN\n  value: [redacted:token]"),
    ("-api_key: old\n+api_key: new", "-api_key: [redacted:api-key]\n+api_key: [redacted:api-key]"),
    ("apiKey: foo, clientSecret: bar", "apiKey: [redacted:api-key], clientSecret: [redacted:secret]"),
    ("token='ABcd1234efgh5678ij'", "token='[redacted:token]'"),
    (f"key:\n{PRIVATE_KEY}\nend", "key:\n[redacted:private-key]\nend"),
]

ORDINARY = [
    "max_tokens=4096, num_tokens=1, skip_tokenizer_init=False, tokenizer='/models/served', token_usage=0.91, prompt_token_ids=[1, 2, 3]",
    "Prefill batch. #new-seq: 1, #new-token: 8192, #cached-token: 0, full token usage: 0.31, token usage: 0.92",
    "bytes_per_token=12785, max_num_batched_tokens=4096, pad_token='<|endoftext|>', eos_token: '</s>', stop_token=151645",
    "api_key=None, hf_token=None, ssl_keyfile=None, admin_api_key=None, hf_overrides={}, hf_config_path=None",
    "api_key='', api_key='EMPTY', password: null",
    "export HF_TOKEN=$HF_TOKEN API_KEY=${API_KEY} key={{ .Values.token }}",
    "usage: api_server.py [-h] [--api-key API_KEY [API_KEY ...]] [--hf-token [HF_TOKEN]] [--port PORT]",
    "secretName: hf-credentials, secretKeyRef: {name: hf, key: token}, password_file=/run/secrets/db",
    "api_key = self.api_key; token = os.environ['HF_TOKEN']; def login(api_key: Optional[str] = None, token: str | None = None)",
    'File "/usr/lib/python3.12/site-packages/transformers/tokenization_utils_base.py", line 2044, in from_pretrained',
    "https://docs.vllm.ai/en/latest/?q=a@b ssh://git@github.com/org/repo docker://nginx@sha256:0a1b tcp://127.0.0.1:29500",
    "Captured graph: key=(1024,) cache=1/16, cache_key=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "task-scheduler-0123456789abcdef risk-based disk-usage-percent-0123456789",
    "PWD=/root/work OLDPWD=/root monkey=banana keyboard: us",
    "sha256 " + "ab" * 32,
    "The bearer of this message ran out of 16.44 GiB",
]


@pytest.mark.parametrize(("text", "expected"), SECRETS, ids=[f"{number}-{expected[:30]}" for number, (_, expected) in enumerate(SECRETS)])
def test_a_credential_is_replaced_and_nothing_else(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_messages_of_the_engines_stay_as_they_are(fixtures_dir: Path) -> None:
    lines = (fixtures_dir / "redaction" / "ordinary_lines.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    assert [line for line in lines if redact(line) != line] == []


def test_no_example_log_loses_a_figure(fixtures_dir: Path) -> None:
    logs = sorted(fixtures_dir.rglob("*.log"))
    assert logs
    changed = [
        (log.name, line) for log in logs for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if redact(line) != line
    ]
    assert changed == []


FRAGMENTS = [
    "a", "a-", "--", "eyJ", "eyJ-", "eyJaaaaaaaaa.", "hf_", "hf_a", "sk-", "sk-a", "-----BEGIN PRIVATE KEY-----", "://", "://a:", "token=",
    "token={", 'token="', "token=\\'", "api_key=", "api_key={", 'api_key=["', "secret={{", "secret=<", "password=os.environ.",
    "password=a.", 'password="\\', "--token ", "Bearer ", "bearer a", "?sig=", "github_pat_", "glpat-", "xoxb-", "name: X_TOKEN\n value:",
    " ", "\n", "\\", '"', "'", "=", ":", "API_KEY", "password=${", "password=optional", "aB", "A_", "_", "api_key=a,b&",
    "hooks.slack.com/services/", "://user:p@", "'secret': '{{", "1", "é",
]  # fmt: skip


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_hostile_repetition_takes_linear_time(fragment: str) -> None:
    text = fragment * (100_000 // len(fragment)) + " "
    start = time.perf_counter()
    redact(text)
    assert time.perf_counter() - start < 2, "0.1 s is usual; a quadratic search takes minutes"


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join) | st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def test_nested_values_go_by_the_names_they_stand_under() -> None:
    value = {
        "api_key": ["a", "b"],
        "env": {"HF_TOKEN": "x", "credentials": {"user": "me"}, "port": 8000},
        "password": 123456,
        "max_tokens": 16,
        "hf_token": None,
        "notes": [f"see {HF}", ("ok", 1.5)],
    }
    assert redact_value(value) == {
        "api_key": ["[redacted:api-key]", "[redacted:api-key]"],
        "env": {"HF_TOKEN": "[redacted:token]", "credentials": {"user": "[redacted:secret]"}, "port": 8000},
        "password": "[redacted:password]",
        "max_tokens": 16,
        "hf_token": None,
        "notes": ["see [redacted:huggingface-token]", ("ok", 1.5)],
    }


def test_every_string_of_an_analysis_is_redacted_and_no_figure_is_touched() -> None:
    secret = f" token {HF}"
    clean = redacted(crash_analysis(secret))
    assert HF not in repr(clean)
    assert repr(clean) == repr(crash_analysis(" token [redacted:huggingface-token]"))
    assert redacted(crash_analysis()) == crash_analysis()


def test_undecodable_bytes_become_escapes_that_can_be_written() -> None:
    assert redact_value(Evidence(input="a.log", line=1, text="x\udc80y")).text == r"x\udc80y"
    redacted(hostile_analysis()).model_dump_json().encode("utf-8")
