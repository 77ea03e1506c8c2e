/* Which glyph a frame gives a thing. */
#ifndef PORT_LOOKS_H
#define PORT_LOOKS_H

#include "port.h"

/* Puts them in place of the glyphs that display.c keeps. */
void looks_of_map(int16_t glyphs[ROWNO][COLNO - 1]);

/* Of something that is carried, and has this glyph in the game. */
short look_of_item(const struct obj *item, int glyph);

/* The first of the looks of its class that read the same. */
int looks_first(int look);

#endif
