/* Where formatted text goes. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdarg.h>
#include <stddef.h>

struct sink {
    char *at;
    size_t room;  /* bytes that fit at `at` */
    size_t total; /* bytes asked for so far, also those without room */
    /* Makes room when there is none; null: what doesn't fit is only counted. */
    void (*spill)(struct sink *sink);
};

/* Puts the formatted text, without a terminator. */
void format_into(struct sink *sink, const char *format, va_list *arguments);

#endif
