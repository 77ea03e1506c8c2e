/* strtol and its kin, and the character classes. */
#include "harness.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

struct result {
    unsigned long value;
    ptrdiff_t end; /* -1 when not set */
    int error;
};

static void same(const char *call, const char *text, int base, struct result our, struct result their)
{
    /* For a base that is none glibc leaves the end alone, the sanitiser's doesn't. */
    ptrdiff_t their_end = their.error == EINVAL ? -1 : their.end;

    CHECK(our.value == their.value && our.end == their_end && our.error == their.error,
          "%s of \"%s\" in base %d: %lu, end %td, errno %d; glibc: %lu, end %td, errno %d", call, text, base,
          our.value, our.end, our.error, their.value, their_end, their.error);
}

#define RESULT(call, number)                                                                         \
    ({                                                                                               \
        char *end = NULL;                                                                            \
        number = 0;                                                                                  \
        unsigned long value = (unsigned long)call(text, &end, base);                                 \
        (struct result){value, end ? end - text : -1, number};                                       \
    })

static void compare(const char *text, int base)
{
    struct result our = RESULT(lab_strtol, lab_errno), their = RESULT(strtol, errno);

    same("strtol", text, base, our, their);
    our = RESULT(lab___isoc23_strtol, lab_errno);
    same("__isoc23_strtol", text, base, our, their);
    our = RESULT(lab_strtoul, lab_errno);
    their = RESULT(strtoul, errno);
    same("strtoul", text, base, our, their);
    our = RESULT(lab___isoc23_strtoul, lab_errno);
    same("__isoc23_strtoul", text, base, our, their);
    CHECK(lab_strtol(text, NULL, base) == strtol(text, NULL, base), "strtol without an end");
    CHECK(lab_atol(text) == atol(text), "atol of \"%s\"", text);
    CHECK(lab_atoi(text) == atoi(text), "atoi of \"%s\"", text);
}

/* Digits of a number near the limits, or anything that may stand in a number. */
static void random_text(char *text)
{
    static const char alphabet[] = "  \t\n-+00112345678999xXabfgzAFZ8.";
    size_t n = below(26);

    if (below(2)) {
        static const unsigned long limits[] = {LONG_MAX, (unsigned long)LONG_MIN, ULONG_MAX, INT_MAX, 0};
        unsigned long value = limits[below(5)] + (unsigned long)between(-3, 3);
        static const char *const formats[] = {"%lu", "-%lu", "  +%lu", "0x%lx", "-0X%lX", "0%lo", "%luz",
            "%lx", "1%lu"};
        snprintf(text, 64, formats[below(9)], value);
        return;
    }
    for (size_t i = 0; i < n; i++)
        text[i] = alphabet[below(sizeof alphabet - 1)];
    text[n] = '\0';
}

void suite_number(void)
{
    static const char *const texts[] = {"", "0", "-", "+", "0x", "0xg", "-0x", " 0x1", "08", "0x0x1", "- 1",
        "--1", "+-1", "\v\f\r7"};
    static const int bases[] = {-1, 0, 1, 2, 3, 8, 10, 16, 35, 36, 37, INT_MAX, INT_MIN};
    char text[64];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
            compare(texts[i], bases[k]);
    for (int i = 0; i < 300000; i++) {
        random_text(text);
        compare(text, below(2) ? bases[below(sizeof bases / sizeof *bases)] : (int)below(38));
    }
}

void suite_ctype(void)
{
    const unsigned short *our = *lab___ctype_b_loc(), *their = *__ctype_b_loc();

    CHECK(lab___ctype_b_loc() == lab___ctype_b_loc(), "the table moves");
    for (int c = -128; c < 256; c++)
        CHECK(our[c] == their[c], "class of %d is %#x, glibc's %#x", c, our[c], their[c]);
}
