class permonst:
    mname: str
    mlet: str
    mlevel: int
    mmove: int
    ac: int
    mr: int
    maligntyp: int
    geno: int
    cwt: int
    cnutrit: int
    msound: int
    msize: int
    mresists: int
    mconveys: int
    mflags1: int
    mflags2: int
    mflags3: int
    difficulty: int
    mcolor: int
    def __init__(self, index: int) -> None: ...

class objclass:
    oc_name_idx: int
    oc_descr_idx: int
    oc_oprop: int
    oc_class: str
    oc_delay: int
    oc_color: int
    oc_prob: int
    oc_weight: int
    oc_cost: int
    def __init__(self, index: int) -> None: ...

class objdescr:
    oc_name: str
    oc_descr: str | None
    @classmethod
    def from_idx(cls, index: int) -> objdescr: ...

class symdef:
    sym: int
    explanation: str
    color: int
    @classmethod
    def from_idx(cls, index: int) -> symdef: ...

class class_sym:
    sym: str
    name: str
    explain: str
    @classmethod
    def from_mlet(cls, letter: str) -> class_sym: ...
    @classmethod
    def from_oc_class(cls, letter: str) -> class_sym: ...

def OBJ_NAME(thing: objclass) -> str: ...
def OBJ_DESCR(thing: objclass) -> str | None: ...
def thing_named(name: str) -> int: ...

NUMMONS: int
NUM_OBJECTS: int
MAXOCLASSES: int
MAXMCLASSES: int
