"""Which names hold credentials: HF_TOKEN, apiKey and ssl_keyfile_password do; max_tokens, tokenizer and secretName do not."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["api-key", "authorization", "password", "secret", "token", "perhaps-token"]

_PASSWORDS = {"passphrase", "passwd", "password", "passwords"}
_SECRETS = {"credential", "credentials", "secret", "secrets"}
_KEYS = {"key", "keys"}
_KEY_OWNERS = {
    "access",
    "account",
    "admin",
    "api",
    "auth",
    "client",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "shared",
    "signing",
}
_GLUED_KEYS = {"accesskey", "accountkey", "apikey", "apikeys", "authkey", "privatekey", "secretkey", "sharedaccesskey"}

# Words before "token" that make it a credential whatever the value looks like ...
_TOKEN_OWNERS = {
    "access", "api", "auth", "bearer", "bot", "csrf", "deploy", "face", "gh", "github", "gitlab", "hf", "hub", "huggingface", "id",
    "identity", "jwt", "modelscope", "ngc", "npm", "oauth", "personal", "private", "pypi", "refresh", "registry", "secret", "security",
    "service", "session", "slack", "vault", "wandb",
}  # fmt: skip
# ... and those that make it a unit of text.
_TEXT_TOKENS = {
    "audio", "begin", "bos", "cached", "cls", "decode", "draft", "end", "eos", "eot", "first", "full", "image", "input", "last", "mask",
    "max", "min", "new", "next", "num", "output", "pad", "per", "placeholder", "prefill", "prev", "previous", "prompt", "sep", "special",
    "start", "stop", "swa", "think", "tool", "unk", "video",
}  # fmt: skip

# A name that ends so tells where or what the credential is, not the credential itself.
_DESCRIPTIONS = {
    "arn", "class", "count", "dir", "enabled", "env", "expiration", "expiry", "file", "id", "ids", "len", "length", "name", "names", "path",
    "policy", "ref", "refs", "required", "ttl", "type", "url", "version",
}  # fmt: skip

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# None of these holds an assignment of its own, so what stands in one need not be looked at again.
_NOT_SECRET = re.compile(
    r"""(?:none|null|nil|true|false|empty|unset|str|bytes|optional\b[^=:]*|-?\d{1,3})?      # no value, a type, a small number
      | \*+ | x{4,} | \.+ | <[^<>=:]*>?                                                      # masked already, a placeholder
      | (?-i:\$\(?[A-Z_][A-Z0-9_]*\)?) | \$\{[^=]*\}? | \{\{[^=:]*\}?\}?                  # where the real one is taken from
      | os\.(?:environ|getenv)\b[^=:]*
      | \[redacted:[\w-]*\]?""",
    re.VERBOSE | re.IGNORECASE,
)
_DOTTED = re.compile(r"[A-Za-z_][\w.]*\.([A-Za-z_]\w*)", re.ASCII)
OPAQUE = r"(?=[A-Za-z_.~-]*+[0-9])(?=[0-9_.~-]*+[A-Za-z])[\w.~-]{16,}+={0,2}"
_OPAQUE = re.compile(OPAQUE, re.ASCII)


@lru_cache(maxsize=4096)
def secret_kind(name: str) -> Kind | None:
    """What kind of credential a name announces; "perhaps-token" where only the look of the value can tell."""
    words = _CAMEL.sub("_", name).replace("-", "_").lower().strip("_").split("_")
    last, owner = words[-1], words[-2] if len(words) > 1 else ""
    if last in _DESCRIPTIONS:
        return None
    if last == "authorization":
        return "authorization"
    if last in _GLUED_KEYS or (last in _KEYS and owner in _KEY_OWNERS):
        return "api-key"
    if not _PASSWORDS.isdisjoint(words) or (last == "pwd" and owner not in {"", "old"}):
        return "password"
    if not _SECRETS.isdisjoint(words):
        return "secret"
    if last == "token" and owner not in _TEXT_TOKENS:
        return "token" if owner in _TOKEN_OWNERS or (owner and name.isupper()) else "perhaps-token"
    return None


def is_secret(kind: Kind, name: str, value: str) -> bool:
    """Whether the value of a name of that kind is a credential, and not "None", a placeholder or a reference to one."""
    if kind == "perhaps-token":
        return _OPAQUE.fullmatch(value) is not None
    if kind == "token" and value.isdecimal():
        return False
    if value.strip("[]") == name.upper().replace("-", "_"):  # a usage line: [--api-key API_KEY]
        return False
    dotted = _DOTTED.fullmatch(value)
    return not (_NOT_SECRET.fullmatch(value) or (dotted and secret_kind(dotted[1])))
