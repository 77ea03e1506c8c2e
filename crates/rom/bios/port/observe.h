/* NLE's observation: its arrays, with its shapes and types. */
#ifndef PORT_OBSERVE_H
#define PORT_OBSERVE_H

#include "port.h"

#define INVENTORY_ITEMS 55
#define ITEM_TEXT_BYTES 80
#define MESSAGE_BYTES 256

/* Keep crates/machine/src/observation.rs in step. */
struct observation {
    int64_t blstats[STATUS_NUMBERS];
    int32_t internal[9], misc[3], program_state[6];
    int16_t glyphs[ROWNO][COLNO - 1];
    int16_t inv_glyphs[INVENTORY_ITEMS];
    uint8_t chars[ROWNO][COLNO - 1];
    uint8_t colors[ROWNO][COLNO - 1];
    uint8_t specials[ROWNO][COLNO - 1];
    uint8_t message[MESSAGE_BYTES];
    uint8_t inv_letters[INVENTORY_ITEMS];
    uint8_t inv_oclasses[INVENTORY_ITEMS];
    uint8_t inv_strs[INVENTORY_ITEMS][ITEM_TEXT_BYTES];
    uint8_t tty_chars[TERMINAL_ROWS][TERMINAL_COLUMNS];
    int8_t tty_colors[TERMINAL_ROWS][TERMINAL_COLUMNS];
    uint8_t tty_cursor[2];
};

enum observe_arrays {
    OBSERVE_GLYPHS = 1,
    OBSERVE_MAPPED = 2, /* chars, colors, specials */
    OBSERVE_BLSTATS = 4,
    OBSERVE_MESSAGE = 8,
    OBSERVE_INVENTORY = 16,
    OBSERVE_INTERNAL = 32, /* internal, misc, program_state */
    OBSERVE_TTY = 64
};

/* Fills what is wanted, without touching the game. */
void rom_observe(struct observation *out, uint32_t wanted);

#endif
