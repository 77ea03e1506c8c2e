"""The public names of `nle.nethack`, so that `import nethack_lab.nle as nethack` is all that changes."""

from nethack_lab.nle.actions import *  # noqa: F403
from nethack_lab.nle.actions import C, M, action_id_to_type  # noqa: F401
from nethack_lab.nle.constants import *  # noqa: F403
from nethack_lab.nle.constants import game_end_types  # noqa: F401
from nethack_lab.nle.glyphs import *  # noqa: F403
from nethack_lab.nle.nethack import (  # noqa: F401
    BLSTATS_SHAPE,
    DUNGEON_SHAPE,
    INTERNAL_SHAPE,
    INV_SIZE,
    INV_STRS_SHAPE,
    MESSAGE_SHAPE,
    MISC_SHAPE,
    NETHACKOPTIONS,
    OBSERVATION_DESC,
    PROGRAM_STATE_SHAPE,
    TERMINAL_SHAPE,
    TILE_RENDER_SHAPE,
    TILE_SHAPE,
    TTYREC_VERSION,
    Nethack,
    tty_render,
)
from nethack_lab.nle.tables import OBJ_DESCR, OBJ_NAME, class_sym, objclass, objdescr, permonst, symdef  # noqa: F401
