import enum

class CompassCardinalDirection(enum.IntEnum):
    N = 107
    E = 108
    S = 106
    W = 104

class CompassIntercardinalDirection(enum.IntEnum):
    NE = 117
    SE = 110
    SW = 98
    NW = 121

class CompassDirection(enum.IntEnum):
    N = 107
    E = 108
    S = 106
    W = 104
    NE = 117
    SE = 110
    SW = 98
    NW = 121

class CompassCardinalDirectionLonger(enum.IntEnum):
    N = 75
    E = 76
    S = 74
    W = 72

class CompassIntercardinalDirectionLonger(enum.IntEnum):
    NE = 85
    SE = 78
    SW = 66
    NW = 89

class CompassDirectionLonger(enum.IntEnum):
    N = 75
    E = 76
    S = 74
    W = 72
    NE = 85
    SE = 78
    SW = 66
    NW = 89

class MiscDirection(enum.IntEnum):
    UP = 60
    DOWN = 62
    WAIT = 46

class MiscAction(enum.IntEnum):
    MORE = 13

class UnsafeActions(enum.IntEnum):
    HELP = 63
    PREVMSG = 16

class TextCharacters(enum.IntEnum):
    PLUS = 43
    MINUS = 45
    SPACE = 32
    APOS = 39
    QUOTE = 34
    NUM_0 = 48
    NUM_1 = 49
    NUM_2 = 50
    NUM_3 = 51
    NUM_4 = 52
    NUM_5 = 53
    NUM_6 = 54
    NUM_7 = 55
    NUM_8 = 56
    NUM_9 = 57
    DOLLAR = 36

class Command(enum.IntEnum):
    EXTCMD = 35
    EXTLIST = 191
    ADJUST = 225
    ANNOTATE = 193
    APPLY = 97
    ATTRIBUTES = 24
    AUTOPICKUP = 64
    CALL = 67
    CAST = 90
    CHAT = 227
    CLOSE = 99
    CONDUCT = 195
    DIP = 228
    DROP = 100
    DROPTYPE = 68
    EAT = 101
    ENGRAVE = 69
    ENHANCE = 229
    ESC = 27
    FIGHT = 70
    FIRE = 102
    FORCE = 230
    GLANCE = 59
    HISTORY = 86
    INVENTORY = 105
    INVENTTYPE = 73
    INVOKE = 233
    JUMP = 234
    KICK = 4
    KNOWN = 92
    KNOWNCLASS = 96
    LOOK = 58
    LOOT = 236
    MONSTER = 237
    MOVE = 109
    MOVEFAR = 77
    OFFER = 239
    OPEN = 111
    OPTIONS = 79
    OVERVIEW = 15
    PAY = 112
    PICKUP = 44
    PRAY = 240
    PUTON = 80
    QUAFF = 113
    QUIT = 241
    QUIVER = 81
    READ = 114
    REDRAW = 18
    REMOVE = 82
    RIDE = 210
    RUB = 242
    RUSH = 103
    RUSH2 = 71
    SAVE = 83
    SEARCH = 115
    SEEALL = 42
    SEEAMULET = 34
    SEEARMOR = 91
    SEEGOLD = 36
    SEERINGS = 61
    SEESPELLS = 43
    SEETOOLS = 40
    SEETRAP = 94
    SEEWEAPON = 41
    SHELL = 33
    SIT = 243
    SWAP = 120
    TAKEOFF = 84
    TAKEOFFALL = 65
    TELEPORT = 20
    THROW = 116
    TIP = 212
    TRAVEL = 95
    TURN = 244
    TWOWEAPON = 88
    UNTRAP = 245
    VERSION = 246
    VERSIONSHORT = 118
    WEAR = 87
    WHATDOES = 38
    WHATIS = 47
    WIELD = 119
    WIPE = 247
    ZAP = 122

class WizardCommand(enum.IntEnum):
    WIZDETECT = 5
    WIZGENESIS = 7
    WIZIDENTIFY = 9
    WIZLEVELPORT = 22
    WIZMAP = 6
    WIZWHERE = 15
    WIZWISH = 23

ACTIONS: tuple[enum.IntEnum, ...]
NON_RL_ACTIONS: tuple[enum.IntEnum, ...]
USEFUL_ACTIONS: tuple[enum.IntEnum, ...]

def M(c: str | int) -> int: ...
def C(c: str | int) -> int: ...
def action_id_to_type(action: int) -> str: ...
