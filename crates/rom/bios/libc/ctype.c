/* Character classes of the C locale, as a table in glibc's bit layout: its ctype
 * macros look straight into it, at an index from -128 to 255. */
#include "libc.h"

enum {
    UPPER = 1 << 8,
    LOWER = 1 << 9,
    ALPHA = 1 << 10,
    DIGIT = 1 << 11,
    HEX = 1 << 12,
    SPACE = 1 << 13,
    PRINT = 1 << 14,
    GRAPH = 1 << 15,
    BLANK = 1 << 0,
    CONTROL = 1 << 1,
    PUNCTUATION = 1 << 2,
    ALNUM = 1 << 3
};

#define FIRST 128
#define AT(c) [FIRST + (c)]
#define SPAN(from, to) [FIRST + (from)... FIRST + (to)]
#define SYMBOL (PRINT | GRAPH | PUNCTUATION)
#define LETTER (PRINT | GRAPH | ALPHA | ALNUM)

static const unsigned short classes[FIRST + 256] = {
    SPAN(0, 8) = CONTROL,
    AT('\t') = CONTROL | SPACE | BLANK,
    SPAN('\n', '\r') = CONTROL | SPACE,
    SPAN(14, 31) = CONTROL,
    AT(' ') = PRINT | SPACE | BLANK,
    SPAN('!', '/') = SYMBOL,
    SPAN('0', '9') = PRINT | GRAPH | ALNUM | DIGIT | HEX,
    SPAN(':', '@') = SYMBOL,
    SPAN('A', 'F') = LETTER | UPPER | HEX,
    SPAN('G', 'Z') = LETTER | UPPER,
    SPAN('[', '`') = SYMBOL,
    SPAN('a', 'f') = LETTER | LOWER | HEX,
    SPAN('g', 'z') = LETTER | LOWER,
    SPAN('{', '~') = SYMBOL,
    AT(127) = CONTROL,
};

static const unsigned short *table = classes + FIRST;

const unsigned short **__ctype_b_loc(void)
{
    return &table;
}
