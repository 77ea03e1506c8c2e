from nethack_lab.nle.actions import *
from nethack_lab.nle.constants import *
from nethack_lab.nle.glyphs import *
from nethack_lab.nle.nethack import *
from nethack_lab.nle.tables import *
