/* What no player sees, told to an operator; and what glyphs are called. */
#ifndef PORT_HIDDEN_H
#define PORT_HIDDEN_H

#include "port.h"

enum hidden_what {
    HIDDEN_HERO = 0,
    HIDDEN_LEVEL = 1,
    HIDDEN_MONSTERS = 2,
    HIDDEN_OBJECTS = 3,
    HIDDEN_NAMES = 4 /* no secret, see hidden_names.c */
};

/* Writes one of these as JSON, without touching the game, and returns how many bytes
 * it takes; nothing is written past the capacity. 0 when no game is under way. */
size_t rom_hidden(uint32_t what, char *out, size_t capacity);

/* Where the text of a JSON document goes. */
struct sheet {
    char *out;
    size_t capacity, used;
    int items; /* of the list that is being written */
};

void sheet_say(struct sheet *sheet, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));
void sheet_text(struct sheet *sheet, const char *text); /* in quotes; null where there is none */
void sheet_item(struct sheet *sheet);                   /* before each item of a list */

/* Of a map's column and row, what the terminal shows them at. */
#define SHOWN_ROW(y) ((y) + 1)
#define SHOWN_COLUMN(x) ((x) - 1)

/* So many in one list; a game has fewer, and a damaged image may have a ring. */
#define HIDDEN_ITEMS_MAX 16384

void hidden_hero(struct sheet *sheet);
void hidden_level(struct sheet *sheet);
void hidden_objects(struct sheet *sheet);
void hidden_names(struct sheet *sheet);

#endif
