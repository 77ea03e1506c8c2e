import dataclasses
import os

@dataclasses.dataclass(frozen=True)
class Verdict:
    verdict: str
    text: str
    inputs: int
    inputs_recorded: int
    engine_id: str
    rom_id: str
    ended: str | None
    def __bool__(self) -> bool: ...

def verify(movie: bytes | bytearray | memoryview | str | os.PathLike[str]) -> Verdict: ...
