from typing import final

@final
class Authenticator:
    admitted: int
    bad_tag: int
    replayed: int
    in_session: bool
    asked: bool
    def __new__(cls, key: bytes, boot_id: int | None = None) -> Authenticator: ...
    def ask(self, nonce: int) -> None: ...
    def encode_frame(
        self, kind: int, body: bytes, *, schema_id: int = 0, sequence: int = 0, flags: int = 0
    ) -> bytes: ...
    def counters(self) -> dict[str, int]: ...

def siphash_view(key: bytes, data: bytes) -> int: ...
