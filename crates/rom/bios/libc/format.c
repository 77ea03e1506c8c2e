/* The printf family's directives: d i u o x X c s p %, with flags, width, precision
 * and the lengths hh h l ll z j t. Anything else stops the machine. */
#include <limits.h>
#include <stdbool.h>

#include "bios.h"
#include "digits.h"
#include "format.h"
#include "libc.h"

enum length { INT, CHAR, SHORT, LONG };

struct directive {
    bool left, plus, blank, alternate, zero;
    enum length length;
    size_t width;
    size_t precision;
    bool has_precision;
};

static _Noreturn void refuse(const char *format)
{
    bios_fault("printf: unsupported directive in \"%.160s\"", format);
}

/* ---- output ---- */

static void put_overflowing(struct sink *sink, const char *bytes, size_t n)
{
    while (n > sink->room) {
        size_t part = sink->room;
        memcpy(sink->at, bytes, part);
        sink->at += part;
        sink->room = 0;
        if (!sink->spill)
            return;
        sink->spill(sink);
        bytes += part;
        n -= part;
    }
    memcpy(sink->at, bytes, n);
    sink->at += n;
    sink->room -= n;
}

static inline void put(struct sink *sink, const char *bytes, size_t n)
{
    sink->total += n;
    if (n > sink->room) {
        put_overflowing(sink, bytes, n);
        return;
    }
    memcpy(sink->at, bytes, n);
    sink->at += n;
    sink->room -= n;
}

/* Text of the format itself comes in short runs, for which a call costs more. */
static inline void put_run(struct sink *sink, const char *bytes, size_t n)
{
    if (n > 16 || n > sink->room) {
        put(sink, bytes, n);
        return;
    }
    sink->total += n;
    sink->room -= n;
    while (n--)
        *sink->at++ = *bytes++;
}

static void pad(struct sink *sink, char c, size_t n)
{
    if (!sink->spill && n > sink->room) {
        memset(sink->at, c, sink->room);
        sink->at += sink->room;
        sink->room = 0;
        sink->total += n;
        return;
    }
    while (n) {
        char run[32];
        size_t part = n < sizeof run ? n : sizeof run;
        memset(run, c, part);
        put(sink, run, part);
        n -= part;
    }
}

/* ---- numbers ---- */

static void put_number(struct sink *sink, const struct directive *directive, char conversion,
                       const char *prefix, unsigned long value)
{
    char buffer[DIGITS_MAX], *end = buffer + DIGITS_MAX, *digits = end;
    size_t prefix_length = strlen(prefix), count, zeros = 0, length;

    if (value || !directive->has_precision || directive->precision) {
        if (conversion == 'o')
            digits = power_digits(end, value, 3, "01234567");
        else if (conversion == 'x')
            digits = power_digits(end, value, 4, "0123456789abcdef");
        else if (conversion == 'X')
            digits = power_digits(end, value, 4, "0123456789ABCDEF");
        else
            digits = decimal_digits(end, value);
    }
    count = (size_t)(end - digits);
    if (directive->has_precision && directive->precision > count)
        zeros = directive->precision - count;
    if (directive->alternate && conversion == 'o' && !zeros && (!count || *digits != '0'))
        zeros = 1;
    length = prefix_length + zeros + count;
    if (directive->zero && !directive->left && !directive->has_precision && directive->width > length) {
        zeros += directive->width - length;
        length = directive->width;
    }
    if (!directive->left && directive->width > length)
        pad(sink, ' ', directive->width - length);
    put(sink, prefix, prefix_length);
    pad(sink, '0', zeros);
    put(sink, digits, count);
    if (directive->left && directive->width > length)
        pad(sink, ' ', directive->width - length);
}

static const char *sign_of(const struct directive *directive, bool negative)
{
    return negative ? "-" : directive->plus ? "+" : directive->blank ? " " : "";
}

static void put_signed(struct sink *sink, const struct directive *directive, long value)
{
    unsigned long magnitude = value < 0 ? -(unsigned long)value : (unsigned long)value;

    put_number(sink, directive, 'd', sign_of(directive, value < 0), magnitude);
}

static void put_unsigned(struct sink *sink, const struct directive *directive, char conversion,
                         unsigned long value)
{
    const char *prefix = "";

    if (directive->alternate && value && conversion == 'x')
        prefix = "0x";
    else if (directive->alternate && value && conversion == 'X')
        prefix = "0X";
    put_number(sink, directive, conversion, prefix, value);
}

static long signed_argument(enum length length, va_list *arguments)
{
    if (length == LONG)
        return va_arg(*arguments, long);
    if (length == SHORT)
        return (short)va_arg(*arguments, int);
    if (length == CHAR)
        return (signed char)va_arg(*arguments, int);
    return va_arg(*arguments, int);
}

static unsigned long unsigned_argument(enum length length, va_list *arguments)
{
    if (length == LONG)
        return va_arg(*arguments, unsigned long);
    if (length == SHORT)
        return (unsigned short)va_arg(*arguments, unsigned);
    if (length == CHAR)
        return (unsigned char)va_arg(*arguments, unsigned);
    return va_arg(*arguments, unsigned);
}

/* ---- text ---- */

static void put_padded(struct sink *sink, const struct directive *directive, const char *text, size_t n)
{
    if (!directive->left && directive->width > n)
        pad(sink, ' ', directive->width - n);
    put(sink, text, n);
    if (directive->left && directive->width > n)
        pad(sink, ' ', directive->width - n);
}

/* As glibc: a null pointer shows itself where the precision leaves room for it. */
static const char *shown_text(const char *text, const struct directive *directive)
{
    if (text)
        return text;
    return directive->has_precision && directive->precision < 6 ? "" : "(null)";
}

static void put_text(struct sink *sink, const struct directive *directive, const char *text)
{
    size_t n;

    text = shown_text(text, directive);
    if (directive->has_precision) {
        const char *end = memchr(text, '\0', directive->precision);
        n = end ? (size_t)(end - text) : directive->precision;
    } else {
        n = strlen(text);
    }
    put_padded(sink, directive, text, n);
}

static void put_pointer(struct sink *sink, struct directive *directive, const void *pointer)
{
    static const char *const prefixes[] = {"0x", "+0x", " 0x"};

    if (!pointer) {
        put_padded(sink, directive, "(nil)", 5);
        return;
    }
    put_number(sink, directive, 'x', prefixes[directive->plus ? 1 : directive->blank ? 2 : 0],
               (unsigned long)pointer);
}

/* ---- directives ---- */

static const char *read_count(const char *at, size_t *count, const char *format)
{
    size_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (size_t)(*at - '0');
        if (value > INT_MAX)
            refuse(format);
    }
    *count = value;
    return at;
}

static const char *read_flags(const char *at, struct directive *directive)
{
    for (;; at++) {
        if (*at == '-')
            directive->left = true;
        else if (*at == '+')
            directive->plus = true;
        else if (*at == ' ')
            directive->blank = true;
        else if (*at == '#')
            directive->alternate = true;
        else if (*at == '0')
            directive->zero = true;
        else
            return at;
    }
}

static const char *read_sizes(const char *at, struct directive *directive, va_list *arguments,
                              const char *format)
{
    if (*at == '*') {
        int width = va_arg(*arguments, int);
        directive->left |= width < 0;
        directive->width = width < 0 ? -(size_t)width : (size_t)width;
        at++;
    } else {
        at = read_count(at, &directive->width, format);
    }
    if (*at != '.')
        return at;
    directive->has_precision = true;
    if (*++at == '*') {
        int precision = va_arg(*arguments, int);
        directive->has_precision = precision >= 0;
        directive->precision = precision < 0 ? 0 : (size_t)precision;
        return at + 1;
    }
    return read_count(at, &directive->precision, format);
}

static const char *read_length(const char *at, struct directive *directive)
{
    if (at[0] == 'h') {
        directive->length = at[1] == 'h' ? CHAR : SHORT;
        return at + 1 + (at[1] == 'h');
    }
    if (at[0] == 'l' || at[0] == 'z' || at[0] == 'j' || at[0] == 't') {
        directive->length = LONG;
        return at + 1 + (at[0] == 'l' && at[1] == 'l');
    }
    return at;
}

/* One directive, from after its percent sign; returns what follows it. */
static const char *put_directive(struct sink *sink, const char *at, va_list *arguments, const char *format)
{
    struct directive directive = {0};
    const char *start = at;
    char conversion, c;

    at = read_flags(at, &directive);
    at = read_sizes(at, &directive, arguments, format);
    at = read_length(at, &directive);
    conversion = *at++;
    if (strchr("csp", conversion) && directive.length != INT)
        refuse(format);
    switch (conversion) {
    case 'd':
    case 'i':
        put_signed(sink, &directive, signed_argument(directive.length, arguments));
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_unsigned(sink, &directive, conversion, unsigned_argument(directive.length, arguments));
        break;
    case 'c':
        c = (char)va_arg(*arguments, int);
        put_padded(sink, &directive, &c, 1);
        break;
    case 's':
        put_text(sink, &directive, va_arg(*arguments, const char *));
        break;
    case 'p':
        put_pointer(sink, &directive, va_arg(*arguments, const void *));
        break;
    case '%':
        if (at - start != 1)
            refuse(format);
        put(sink, "%", 1);
        break;
    default:
        refuse(format);
    }
    return at;
}

static void put_plain_int(struct sink *sink, int value)
{
    char buffer[DIGITS_MAX], *end = buffer + DIGITS_MAX;
    char *digits = decimal_digits(end, value < 0 ? -(unsigned long)value : (unsigned long)value);

    if (value < 0)
        *--digits = '-';
    put_run(sink, digits, (size_t)(end - digits));
}

void format_into(struct sink *sink, const char *format, va_list *arguments)
{
    const char *at = format;

    for (;;) {
        const char *run = at;
        while (*at && *at != '%')
            at++;
        put_run(sink, run, (size_t)(at - run));
        if (!*at)
            break;
        at++;
        /* Nearly every directive of the game is one of these two, plain. */
        if (*at == 's') {
            const char *text = va_arg(*arguments, const char *);
            if (!text)
                text = "(null)";
            put(sink, text, strlen(text));
            at++;
        } else if (*at == 'd') {
            put_plain_int(sink, va_arg(*arguments, int));
            at++;
        } else {
            at = put_directive(sink, at, arguments, format);
        }
    }
    if (sink->total > INT_MAX)
        bios_fault("printf: more than INT_MAX bytes from \"%.160s\"", format);
}
