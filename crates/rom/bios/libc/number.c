/* Text to integers. */
#include <limits.h>

#include "libc.h"

/* A number as written: digits read as far as they go, not yet given a sign. */
struct written {
    const char *end; /* just after it; null when there is no number */
    unsigned long magnitude;
    int negative, too_big;
};

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* 0..35, or 36 for what is no digit of any base. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A') + 10;
    return 36;
}

static void read_digits(struct written *number, const char *text, unsigned base)
{
    unsigned digit;

    for (; (digit = digit_value(*text)) < base; text++) {
        unsigned long next;
        if (__builtin_mul_overflow(number->magnitude, base, &next)
            || __builtin_add_overflow(next, digit, &next))
            number->too_big = 1;
        else
            number->magnitude = next;
        number->end = text + 1;
    }
}

static struct written read_number(const char *text, int base)
{
    struct written number = {NULL, 0, 0, 0};

    while (is_space(*text))
        text++;
    if (*text == '-' || *text == '+')
        number.negative = *text++ == '-';
    if ((base == 0 || base == 16) && text[0] == '0' && (text[1] | 32) == 'x') {
        read_digits(&number, text + 2, 16);
        /* "0x" alone is the number 0 followed by an x. */
        if (!number.end)
            number.end = text + 1;
        return number;
    }
    if (base == 0)
        base = *text == '0' ? 8 : 10;
    read_digits(&number, text, (unsigned)base);
    return number;
}

/* Gives the end back and says whether the base is one. */
static int accept(const char *text, char **end, int base, struct written *number)
{
    if (base < 0 || base == 1 || base > 36) {
        error_set(ABI_EINVAL);
        return 0;
    }
    *number = read_number(text, base);
    if (end)
        *end = (char *)(number->end ? number->end : text);
    return 1;
}

long strtol(const char *restrict text, char **restrict end, int base)
{
    struct written number;
    unsigned long limit;

    if (!accept(text, end, base, &number))
        return 0;
    limit = (unsigned long)LONG_MAX + (unsigned long)number.negative;
    if (number.too_big || number.magnitude > limit) {
        error_set(ABI_ERANGE);
        return number.negative ? LONG_MIN : LONG_MAX;
    }
    return (long)(number.negative ? -number.magnitude : number.magnitude);
}

unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
    struct written number;

    if (!accept(text, end, base, &number))
        return 0;
    if (number.too_big) {
        error_set(ABI_ERANGE);
        return ULONG_MAX;
    }
    return number.negative ? -number.magnitude : number.magnitude;
}

/* Newer headers ask under these names, whose only other meaning is that they also
 * read binary digits after 0b; the game writes none. */
long __isoc23_strtol(const char *restrict, char **restrict, int) ALIAS_OF(strtol);
unsigned long __isoc23_strtoul(const char *restrict, char **restrict, int) ALIAS_OF(strtoul);

int atoi(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

long atol(const char *text)
{
    return strtol(text, NULL, 10);
}
