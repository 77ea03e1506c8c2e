/* Edits: what an operator changes between two keys. */
#ifndef PORT_EDIT_H
#define PORT_EDIT_H

#include "port.h"

/* Where host and game meet for an edit. Outside the image, so that it stays in none. */
struct edit_box {
    int32_t made; /* 1: done; 0: refused, and the host loads the state of before */
    char request[EDIT_REQUEST_BYTES]; /* one line of words, see docs/formats/movie.md */
    char reason[EDIT_REASON_BYTES];   /* of a refusal */
};
extern struct edit_box edit_box;

/* The reason, formatted; always 0. */
int edit_refuse(const char *format, ...) __attribute__((format(__printf__, 1, 2)));

/* Whether the words go on with a number (and which), with a word, or with one of a
 * row and column on the map, which become the game's own x and y. */
int edit_number(const char **words, long *number);
int edit_word(const char **words, const char *word);
int edit_place(const char **words, int *x, int *y);

/* Each makes one kind of edit: 1, or 0 with a reason. */
int edit_set(const char *words);
int edit_item(const char *words);
int edit_monster(const char *words);

#endif
