/* The form in which a frame leaves the ROM: a fixed head, then records. All
 * numbers little-endian, no padding but what is written here. */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

#include "port.h"

#define FRAME_HAS_STATUS 1
#define FRAME_HAS_MENU 2
#define FRAME_HAS_WINDOW 4
#define FRAME_MESSAGES_TRUNCATED 8
#define FRAME_HAS_HERO 16
#define FRAME_POLYMORPHED 32
#define FRAME_NUMBER_PAD 128
#define FRAME_WINDOW_IN_PARTS 64 /* its lines are those of the page on the screen */

struct frame_head {
    uint8_t chars[TERMINAL_ROWS][TERMINAL_COLUMNS];
    uint8_t colors[TERMINAL_ROWS][TERMINAL_COLUMNS];
    uint8_t attributes[TERMINAL_ROWS][TERMINAL_COLUMNS];
    int16_t glyphs[ROWNO][COLNO - 1];
    uint8_t cursor_row, cursor_column, hero_row, hero_column;
    uint8_t pending, stage, flags, default_answer;
    uint16_t capacity;
    uint16_t pick;  /* PICK_NONE, PICK_ONE, PICK_ANY */
    uint16_t page, pages;
    int64_t turn;
    int64_t numbers[STATUS_NUMBERS];
    uint64_t status_enabled;
    uint64_t message_first_id;
    uint32_t messages, items, entries, lines;
    /* Then, each a 16-bit length and bytes: prompt, answers, typed, and the texts
     * of all status fields if there is a status. Then messages, items (records as
     * kept), entries (entry_record and text), lines (length and text). */
} __attribute__((packed));

struct entry_record {
    int64_t count; /* -1: all */
    uint8_t accelerator, group, selectable, selected;
    uint16_t page; /* from 1 */
    uint16_t length;
} __attribute__((packed));

/* Writes the frame of the stopped game, without touching the game, and returns how
 * many bytes it takes; nothing is written past the capacity. */
size_t rom_frame(unsigned char *out, size_t capacity);

#endif
