/* The scanf family's directives: d u x c s [ %, with suppression, width and the
 * lengths hh h l ll. Anything else stops the machine. Details follow glibc. */
#include <limits.h>
#include <stdbool.h>

#include "bios.h"
#include "descriptor.h"
#include "libc.h"

struct scan {
    const char *at, *end; /* the input that is left */
    const char *format;   /* all of it, for the diagnosis */
    int stored;           /* conversions done, but for suppressed ones */
};

enum length { INT, CHAR, SHORT, LONG };

struct conversion {
    bool suppress;
    size_t width; /* SIZE_MAX when not given */
    enum length length;
};

enum outcome { DONE, MISMATCH, INPUT_ENDED };


static _Noreturn void refuse(const struct scan *scan)
{
    bios_fault("scanf: unsupported directive in \"%.160s\"", scan->format);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(struct scan *scan)
{
    while (scan->at < scan->end && is_space(*scan->at))
        scan->at++;
}

/* ---- numbers ---- */

static bool is_digit(char c, int base)
{
    if (c >= '0' && c <= '9')
        return true;
    return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

/* Takes one byte into the number while input and width last. */
static bool take(struct scan *scan, size_t *width)
{
    if (scan->at == scan->end || !*width)
        return false;
    scan->at++;
    --*width;
    return true;
}

static bool next_is(const struct scan *scan, size_t width, char a, char b)
{
    return scan->at < scan->end && width && (*scan->at == a || *scan->at == b);
}

struct number {
    unsigned long magnitude;
    bool negative, too_big;
};

/* A sign counts against the width but is read even when the width is used up by it;
 * "0x" with nothing after it is a zero. */
static enum outcome read_number(struct scan *scan, size_t width, int base, struct number *number)
{
    bool any = false;

    *number = (struct number){0};
    if (scan->at == scan->end)
        return INPUT_ENDED;
    if (next_is(scan, width, '-', '+')) {
        number->negative = *scan->at == '-';
        take(scan, &width);
    }
    if (next_is(scan, width, '0', '0')) {
        any = take(scan, &width);
        if (base == 16 && next_is(scan, width, 'x', 'X'))
            take(scan, &width);
    }
    while (scan->at < scan->end && is_digit(*scan->at, base)) {
        char c = *scan->at;
        unsigned long digit = c <= '9' ? (unsigned long)(c - '0') : (unsigned long)((c | 32) - 'a' + 10);
        if (!take(scan, &width))
            break;
        any = true;
        number->too_big |= __builtin_mul_overflow(number->magnitude, (unsigned long)base, &number->magnitude)
            || __builtin_add_overflow(number->magnitude, digit, &number->magnitude);
    }
    return any ? DONE : MISMATCH;
}

/* As strtol and strtoul would have it: too big a number becomes the nearest one. */
static unsigned long value_of(const struct number *number, bool is_signed)
{
    unsigned long limit = is_signed ? (unsigned long)LONG_MAX + number->negative : ULONG_MAX;

    if (number->too_big || number->magnitude > limit) {
        error_set(ABI_ERANGE);
        return is_signed ? limit : ULONG_MAX;
    }
    return number->negative ? -number->magnitude : number->magnitude;
}

static void store(void *to, enum length length, unsigned long value)
{
    if (length == LONG)
        *(unsigned long *)to = value;
    else if (length == SHORT)
        *(unsigned short *)to = (unsigned short)value;
    else if (length == CHAR)
        *(unsigned char *)to = (unsigned char)value;
    else
        *(unsigned *)to = (unsigned)value;
}

static enum outcome scan_number(struct scan *scan, const struct conversion *conversion, char kind,
                                va_list *arguments)
{
    struct number number;
    enum outcome outcome = read_number(scan, conversion->width, kind == 'x' ? 16 : 10, &number);

    unsigned long value;

    if (outcome != DONE)
        return outcome;
    value = value_of(&number, kind == 'd');
    if (!conversion->suppress) {
        store(va_arg(*arguments, void *), conversion->length, value);
        scan->stored++;
    }
    return DONE;
}

/* ---- text ---- */

/* A set of bytes, one bit each. */
struct set {
    uint64_t bits[4];
};

static bool in_set(const struct set *set, char c)
{
    unsigned char byte = (unsigned char)c;

    return set->bits[byte / 64] >> byte % 64 & 1;
}

static void add_span(struct set *set, char from, char to)
{
    for (unsigned byte = (unsigned char)from; byte <= (unsigned char)to; byte++)
        set->bits[byte / 64] |= (uint64_t)1 << byte % 64;
}

/* Reads a set from after its bracket; returns what follows the closing one. */
static const char *read_set(const struct scan *scan, const char *at, struct set *set)
{
    bool inverted = *at == '^';
    const char *first;

    *set = (struct set){0};
    at += inverted;
    for (first = at; *at && (*at != ']' || at == first); at++) {
        if (at[0] == '-' && at != first && at[1] && at[1] != ']') {
            if ((unsigned char)at[-1] > (unsigned char)at[1])
                refuse(scan);
            add_span(set, at[-1], at[1]);
            at++;
        } else {
            add_span(set, at[0], at[0]);
        }
    }
    if (!*at)
        refuse(scan);
    for (int i = 0; inverted && i < 4; i++)
        set->bits[i] = ~set->bits[i];
    return at + 1;
}

/* Stores bytes of the set, at least one, with a terminator. */
static enum outcome scan_set(struct scan *scan, const struct conversion *conversion, const struct set *set,
                             va_list *arguments)
{
    const char *start = scan->at;
    size_t n = (size_t)(scan->end - start);
    const char *limit = start + (n < conversion->width ? n : conversion->width);
    char *to;

    if (start == scan->end)
        return INPUT_ENDED;
    while (scan->at < limit && in_set(set, *scan->at))
        scan->at++;
    n = (size_t)(scan->at - start);
    if (!n)
        return MISMATCH;
    if (!conversion->suppress) {
        to = va_arg(*arguments, char *);
        memcpy(to, start, n);
        to[n] = '\0';
        scan->stored++;
    }
    return DONE;
}

/* Stores as many bytes as the width says, without a terminator. */
static enum outcome scan_bytes(struct scan *scan, const struct conversion *conversion, va_list *arguments)
{
    size_t width = conversion->width == SIZE_MAX ? 1 : conversion->width;
    size_t n = (size_t)(scan->end - scan->at);

    if (!n)
        return INPUT_ENDED;
    if (n > width)
        n = width;
    if (!conversion->suppress) {
        memcpy(va_arg(*arguments, char *), scan->at, n);
        scan->stored++;
    }
    scan->at += n;
    return DONE;
}

static enum outcome scan_literal(struct scan *scan, char c)
{
    if (scan->at == scan->end)
        return INPUT_ENDED;
    if (*scan->at != c)
        return MISMATCH;
    scan->at++;
    return DONE;
}

/* ---- directives ---- */

static const char *read_conversion(const struct scan *scan, const char *at, struct conversion *conversion)
{
    size_t width = 0;

    conversion->suppress = *at == '*';
    at += conversion->suppress;
    for (; *at >= '0' && *at <= '9'; at++) {
        width = width * 10 + (size_t)(*at - '0');
        if (width > INT_MAX)
            refuse(scan);
    }
    conversion->width = width ? width : SIZE_MAX;
    conversion->length = INT;
    if (*at == 'h') {
        conversion->length = at[1] == 'h' ? CHAR : SHORT;
        at += at[1] == 'h' ? 2 : 1;
    } else if (*at == 'l') {
        conversion->length = LONG;
        at += at[1] == 'l' ? 2 : 1;
    }
    return at;
}

/* One directive, from after its percent sign; moves *format to what follows it. */
static enum outcome scan_directive(struct scan *scan, const char **format, va_list *arguments)
{
    static const struct set no_spaces = {{~(uint64_t)0x100003e00, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct conversion conversion;
    struct set set;
    const char *start = *format;
    char kind;

    *format = read_conversion(scan, start, &conversion);
    kind = *(*format)++;
    if (strchr("cs[", kind) && conversion.length != INT)
        refuse(scan);
    if (kind != 'c' && kind != '[')
        skip_spaces(scan);
    switch (kind) {
    case 'd':
    case 'u':
    case 'x':
        return scan_number(scan, &conversion, kind, arguments);
    case 'c':
        return scan_bytes(scan, &conversion, arguments);
    case 's':
        return scan_set(scan, &conversion, &no_spaces, arguments);
    case '[':
        *format = read_set(scan, *format, &set);
        return scan_set(scan, &conversion, &set, arguments);
    case '%':
        if (*format - start == 1)
            return scan_literal(scan, '%');
    }
    refuse(scan);
}

/* Runs the format over the input; returns the number stored, or EOF. */
static int run(struct scan *scan, va_list *arguments)
{
    const char *format = scan->format;
    enum outcome outcome = DONE;

    while (*format && outcome == DONE) {
        if (is_space(*format)) {
            skip_spaces(scan);
            format++;
        } else if (*format == '%') {
            format++;
            outcome = scan_directive(scan, &format, arguments);
        } else {
            outcome = scan_literal(scan, *format++);
        }
    }
    return outcome == INPUT_ENDED && !scan->stored ? ABI_EOF : scan->stored;
}

int sscanf(const char *restrict text, const char *restrict format, ...)
{
    struct scan scan = {text, text + strlen(text), format, 0};
    va_list arguments;
    int stored;

    va_start(arguments, format);
    stored = run(&scan, &arguments);
    va_end(arguments);
    return stored;
}

int fscanf(struct stream *restrict stream, const char *restrict format, ...)
{
    int fd = fileno(stream);
    struct scan scan = {.format = format};
    const char *start;
    va_list arguments;
    size_t n;
    int stored;

    if (descriptor_is_terminal(fd) || !descriptor_allows(fd, ABI_O_RDONLY))
        bios_fault("fscanf: descriptor %d is not a file open for reading", fd);
    start = descriptor_ahead(fd, &n);
    scan.at = start;
    scan.end = start + n;
    va_start(arguments, format);
    stored = run(&scan, &arguments);
    va_end(arguments);
    descriptor_skip(fd, (size_t)(scan.at - start));
    return stored;
}

/* The headers ask under the name of the language version they were given; the
 * differences between these lie in directives that are refused here. */
int __isoc99_sscanf(const char *restrict, const char *restrict, ...) ALIAS_OF(sscanf);
int __isoc23_sscanf(const char *restrict, const char *restrict, ...) ALIAS_OF(sscanf);
int __isoc99_fscanf(struct stream *restrict, const char *restrict, ...) ALIAS_OF(fscanf);
int __isoc23_fscanf(struct stream *restrict, const char *restrict, ...) ALIAS_OF(fscanf);
