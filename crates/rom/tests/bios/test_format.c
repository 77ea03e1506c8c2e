/* The printf family against glibc's. */
#include "harness.h"

#include <limits.h>

typedef int (*printer)(char *, size_t, const char *, ...);

#define ARGUMENTS_MAX 12

/* Arguments of any kind in one form: on x86-64 an int, a long and a pointer each take
 * a slot of their own, and an int is its lower half. */
struct arguments {
    unsigned long slots[ARGUMENTS_MAX];
    int count;
};

static int call(printer print, char *to, size_t size, const char *format, const struct arguments *arguments)
{
    const unsigned long *a = arguments->slots;

    return print(to, size, format, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

/* Our other ways in, in the same form. */
static int print_unbounded(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    int length;

    (void)size;
    va_start(arguments, format);
    length = lab_vsprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

static int print_to_file(char *to, size_t size, const char *format, ...)
{
    struct stream *file = lab_fopen("printed", "w+");
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = lab_vfprintf(file, format, arguments);
    va_end(arguments);
    CHECK(lab_ftell(file) == length, "printed %ld bytes, says %d", lab_ftell(file), length);
    lab_rewind(file);
    to[lab_fread(to, 1, size, file)] = '\0';
    lab_fclose(file);
    return length;
}

#define TEXT_BYTES 8192

static void compare(const char *format, const struct arguments *arguments)
{
    static char our[TEXT_BYTES], their[TEXT_BYTES];
    size_t size = below(4) ? below(80) : sizeof our;
    int our_length, their_length;

    memset(our, 0x55, 256);
    memset(their, 0x55, 256);
    our_length = call(lab_snprintf, our, size, format, arguments);
    their_length = call(snprintf, their, size, format, arguments);
    CHECK(our_length == their_length && !memcmp(our, their, 256),
          "snprintf of \"%s\" in %zu: %d \"%.*s\", glibc: %d \"%.*s\"", format, size, our_length, size ? 256 : 0, our,
          their_length, size ? 256 : 0, their);
    if (their_length >= TEXT_BYTES - 1)
        return;
    call(snprintf, their, sizeof their, format, arguments);
    our_length = call(below(2) ? print_unbounded : print_to_file, our, sizeof our - 1, format, arguments);
    CHECK(our_length == their_length && !memcmp(our, their, (size_t)their_length + 1),
          "\"%s\" unbounded: \"%s\", glibc: \"%s\"", format, our, their);
}

/* ---- random directives ---- */

static void add(struct arguments *arguments, unsigned long value)
{
    arguments->slots[arguments->count++] = value;
}

static const char *random_text(void)
{
    static char text[8][1024];
    static unsigned next;
    char *to = text[next++ % 8];
    size_t n = below(20) ? below(24) : below(1000);

    if (!below(50))
        return NULL;
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(1 + below(255));
    to[n] = '\0';
    return to;
}

static unsigned long random_integer(void)
{
    static const unsigned long edges[] = {0, 1, 9, 10, 99, 100, CHAR_MIN, SHRT_MIN, INT_MAX,
        (unsigned long)INT_MIN, LONG_MAX, (unsigned long)LONG_MIN, ULONG_MAX};
    unsigned long value = below(4) ? random_magnitude() : edges[below(sizeof edges / sizeof *edges)];

    return below(2) ? value : -value;
}

static char *random_size(char *to, struct arguments *arguments, int low, int high)
{
    if (below(3))
        return to + sprintf(to, "%d", between(0, high));
    *to++ = '*';
    add(arguments, (unsigned long)(unsigned)between(low, high));
    return to;
}

/* Every flag, width, precision, length and conversion in any combination. */
static char *random_directive(char *to, struct arguments *arguments)
{
    static const char conversions[] = "diuoxXdiuoxXcsp";
    static const char *const lengths[] = {"", "", "hh", "h", "l", "ll", "z", "j", "t"};
    char conversion = conversions[below(sizeof conversions - 1)];

    *to++ = '%';
    if (!below(16)) {
        *to++ = '%';
        return to;
    }
    for (unsigned flags = below(2) ? below(4) : 0; flags; flags--)
        *to++ = "-+ #0"[below(5)];
    if (below(2))
        to = random_size(to, arguments, -40, 40);
    if (!below(3)) {
        *to++ = '.';
        if (below(4))
            to = random_size(to, arguments, -5, 40);
    }
    if (!strchr("csp", conversion))
        to += sprintf(to, "%s", lengths[below(sizeof lengths / sizeof *lengths)]);
    *to++ = conversion;
    if (conversion == 's')
        add(arguments, (unsigned long)random_text());
    else if (conversion == 'p' && !below(4))
        add(arguments, 0);
    else
        add(arguments, random_integer());
    return to;
}

static void random_format(char *to, struct arguments *arguments)
{
    *arguments = (struct arguments){{0}, 0};
    for (unsigned parts = below(4) + 1; parts; parts--) {
        for (unsigned n = below(3) ? below(6) : below(30); n; n--)
            *to++ = "abc \n\x80~%" [below(7)];
        if (arguments->count <= ARGUMENTS_MAX - 3)
            to = random_directive(to, arguments);
    }
    for (unsigned n = below(4); n; n--)
        *to++ = 'z';
    *to = '\0';
}

/* ---- rows ---- */

/* Every directive that the game's sources hand to a printf. */
static const char *const used[] = {
    "%%",     "%c",    "%d",    "%i",    "%u",    "%x",    "%p",    "%s",     "%ld",    "%li",    "%lu",
    "%lx",    "%zu",   "%-d",   "%-1d",  "%-2d",  "%2d",   "%3d",   "%4d",    "%5d",    "%6d",    "%02d",
    "%05d",   "%5u",   "%-1ld", "%-2ld", "%4ld",  "%6ld",  "%8ld",  "%10ld",  "%04ld",  "%06ld",  "%08ld",
    "%06lx",  "%08lx", "%02x",  "%04x",  "%08x",  "%02X",  "%04X",  "%03o",   "%-2s",   "%-3s",   "%-5s",
    "%-6s",   "%-8s",  "%-10s", "%-12s", "%-14s", "%-15s", "%-18s", "%-20s",  "%-27s",  "%-28s",  "%-30s",
    "%4s",    "%6s",   "%8s",   "%9s",   "%10s",  "%12s",  "%14s",  "%15s",   "%2.2s",  "%4.4s",  "%.3s",
    "%.10s",  "%.20s", "%.30s", "%.50s", "%.60s", "%.80s", "%.243s", "%-30.30s",
};
static const char *const used_with_size[] = {"%*s", "%-*s", "%.*s", "%-45.*s", "%*d", "%*c"};

static void check_used(void)
{
    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; k < sizeof used / sizeof *used; k++) {
            char last = used[k][strlen(used[k]) - 1];
            struct arguments arguments = {{last == 's' ? (unsigned long)random_text() : random_integer()}, 1};
            compare(used[k], &arguments);
        }
        for (size_t k = 0; k < sizeof used_with_size / sizeof *used_with_size; k++) {
            const char *format = used_with_size[k];
            char last = format[strlen(format) - 1];
            struct arguments arguments = {{(unsigned)between(-60, 60),
                last == 's' ? (unsigned long)random_text() : 'x'}, 2};
            compare(format, &arguments);
        }
    }
}

/* Whatever glibc makes of these, ours stops. */
static const char *const refused[] = {
    "%n", "%hhn", "%f", "%F", "%e", "%E", "%g", "%G", "%a", "%A", "%Lf", "%ls", "%lc", "%hs", "%hc", "%lp", "%zs",
    "%C", "%S", "%m", "%'d", "%Id", "%1$d", "%5%", "%-%", "%l%", "%", "%-", "%5", "%.", "%l", "%hhhd", "%llld",
    "%w", "%v", "%O", "%D", "%U", "%.-5d", "%99999999999d", "%.99999999999d", "%b", "%k", "text %s %y",
};

static void check_refusal(const char *format)
{
    static char to[256];

    FAULTS("unsupported directive", lab_snprintf(to, sizeof to, format, "", 0L, 0L));
}

static void check_refused(void)
{
    static char to[256];

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_refusal(refused[i]);
    FAULTS("text %s %y", lab_snprintf(to, sizeof to, "text %s %y", "", 0L));
    FAULTS("INT_MAX", lab_snprintf(to, sizeof to, "%*d%*d", INT_MAX, 1, INT_MAX, 1));
}

void suite_format(void)
{
    char format[512];
    struct arguments arguments;

    check_used();
    for (int i = 0; i < 400000; i++) {
        random_format(format, &arguments);
        compare(format, &arguments);
    }
    CHECK(lab_snprintf(NULL, 0, "%s-%d", "abc", 12) == 6, "counting only");
    CHECK(lab_printf("%s %5d\n", "on screen", 42) == 16, "printf's length");
    CHECK(!strcmp(terminal_text(), "on screen    42\n"), "printf's text");
    check_refused();
}
