/* The scanf family against glibc's, over strings and files. */
#include "harness.h"

#include <errno.h>

#define SLOTS 14
#define SLOT_BYTES 512

typedef unsigned char slots[SLOTS][SLOT_BYTES];
static slots our_slots, their_slots;

#define POINTERS(s)                                                                                  \
    s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13]

static void clear(void)
{
    memset(our_slots, 0x55, sizeof our_slots);
    memset(their_slots, 0x55, sizeof their_slots);
    lab_errno = errno = 0;
}

static void same(const char *call, const char *format, const char *text, int our, int their)
{
    int our_error = lab_errno, their_error = errno;

    CHECK(our == their, "%s(\"%s\", \"%s\") gives %d, glibc's %d", call, text, format, our, their);
    /* At the end of its input glibc forgets that a number before was too big. */
    CHECK(our_error == their_error || !their_error, "%s(\"%s\", \"%s\") sets errno %d, glibc's %d", call,
          text, format, our_error, their_error);
    for (int i = 0; i < SLOTS; i++)
        CHECK(!memcmp(our_slots[i], their_slots[i], SLOT_BYTES), "%s(\"%s\", \"%s\") stores another value %d",
              call, text, format, i);
}

static void compare_text(const char *format, const char *text)
{
    static int (*const calls[])(const char *restrict, const char *restrict, ...)
        = {lab_sscanf, lab___isoc99_sscanf, lab___isoc23_sscanf};

    clear();
    same("sscanf", format, text, calls[below(3)](text, format, POINTERS(our_slots)),
         sscanf(text, format, POINTERS(their_slots)));
}

/* Scans twice in a row, as the game reads a record line by line. */
static void compare_file(const char *format, const char *text)
{
    static int (*const calls[])(struct stream *restrict, const char *restrict, ...)
        = {lab_fscanf, lab___isoc99_fscanf, lab___isoc23_fscanf};
    size_t n = strlen(text);
    struct stream *our = lab_fopen("scanned", "w+");
    FILE *their = n ? fmemopen((char *)text, n, "r") : fopen("/dev/null", "r");

    lab_fwrite(text, 1, n, our);
    lab_rewind(our);
    for (int i = 0; i < 2; i++) {
        clear();
        same("fscanf", format, text, calls[below(3)](our, format, POINTERS(our_slots)),
             fscanf(their, format, POINTERS(their_slots)));
        CHECK(lab_ftell(our) == ftell(their), "fscanf(\"%s\", \"%s\") is then at %ld, glibc's at %ld", text,
              format, lab_ftell(our), ftell(their));
    }
    lab_fclose(our);
    fclose(their);
}

/* ---- rows: every format that the game scans with, and a text that it fits ---- */

static const struct {
    const char *format, *text;
} used[] = {
    {"%d", "12"},
    {"%ld", "-123456789012"},
    {"%x", "1f"},
    {"%hx", "abc"},
    {"%5d\n", "   17\n"},
    {"%5lx\n", "0a3f2\n"},
    {"%8lx\n", "0001f2e3\n"},
    {"%ld,%d\n", "123456,17\n"},
    {"%d,%ld,%lx;%d,%ld,%lx;0,0,%lx\n", "0389,024186,00006b;0413,024188,005ee5;0,0,00bd61\n"},
    {"%ld %ld %ld %ld %ld\n", "1 138 1636 3056 1384868\n"},
    {"%c%s %ld\n", "nDirectory 0\n"},
    {"%d.%d.%d %ld %d %d %d %d %d %d %ld %ld %d ", "3.6.7 1234 0 3 4 -1 15 1 20200101 20191231 1000 "},
    {"%d %d %d %ld %d %d %d %d %d %d %ld %ld %d%*c", "3 6 7 1234 0 3 4 -1 15 1 20200101 20191231 1000 "},
    {"%c%c %[^,],%[^\n]%*c", "VF name,killed by a newt\n"},
    {"%s %s %s %s %[^,],%[^\n]%*c", "Val Hum Fem Neu name,killed by a newt, while asleep\n"},
    {"%c%c %s %s%*c", "VF name death\n"},
    {"%s %s %s %s %s %s%*c", "Val Hum Fem Neu name death\n"},
    {"%10s \"%255[^\"]\"", "hide \"You hear *\""},
    {"\"<%253[^\"]\" %c", "\"<text\" x"},
    {"\">%253[^\"]\" %c", "\">text\" "},
    {"\"%253[^\"]\" %c", "\"text\""},
    {"MESG \"%255[^\"]\"%*[\t ]\"%255[^\"]\" %d", "MESG \"You hear\" \t\"bell.wav\" 50"},
    {"%*[^/]/%d%63[^.]", "save/1000name"},
    {"%d%63s", "1000name"},
};

static const char *const tokens[] = {
    "0", "1", "-", "+", "-12", "+7", "007", "0x", "0x1f", "0X", "fF", "2147483648", "-2147483649",
        "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "ffffffffffffffffff", " ", " ", "\n", "\t ",
    ",", ";", ".", "/", "\"", "<", ">", "%", "a", "abc", "g", "\x80", "MESG", "0,0,", "]", "^", "z",
};

/* A fitting text with some bytes cut, doubled or replaced. */
static void spoil(char *to, const char *text)
{
    for (; *text; text++) {
        unsigned kind = below(30);
        if (kind == 0)
            continue;
        if (kind == 1)
            to += sprintf(to, "%s", tokens[below(sizeof tokens / sizeof *tokens)]);
        *to++ = *text;
        if (kind == 2)
            *to++ = *text;
        if (kind == 3 && !below(4))
            break;
    }
    *to = '\0';
}

static void random_text(char *to)
{
    *to = '\0';
    for (unsigned n = below(12); n; n--)
        to += sprintf(to, "%s", tokens[below(sizeof tokens / sizeof *tokens)]);
}

static void random_format(char *to)
{
    static const char *const kinds[] = {
        "d", "ld", "lld", "hd", "hhd", "u", "lu", "hu", "x", "lx", "hx", "hhx", "c", "s", "s",
        "[a-f0-9]", "[^,]", "[^\n]", "[]a]", "[^]a]", "[-a]", "[a-]", "[%,]", "[^a-z-]", "[\x80-\xff]", "[0-9-]",
    };
    static const char *const between_them[] = {"", "", " ", "\n", ",", ";", "%%", "a", "\t\n"};

    *to = '\0';
    for (unsigned n = below(6); n; n--) {
        to += sprintf(to, "%s%%%s", between_them[below(9)], below(5) ? "" : "*");
        if (!below(3))
            to += sprintf(to, "%d", between(0, 12));
        to += sprintf(to, "%s", kinds[below(sizeof kinds / sizeof *kinds)]);
    }
    sprintf(to, "%s", between_them[below(9)]);
}

static const char *const refused[] = {
    "%n", "%i", "%o", "%X", "%p", "%f", "%e", "%g", "%a", "%ls", "%lc", "%l[a]", "%hs", "%ms", "%C", "%S", "%zd", "%jd",
    "%td", "%Ld", "%qd", "%1$d", "%5%", "%*%", "%", "%l", "%*", "%[", "%[a", "%[z-a]", "%99999999999s",
};

static void check_refusal(const char *format)
{
    FAULTS("unsupported directive", lab_sscanf("12 ab %", format, POINTERS(our_slots)));
}

void suite_scan(void)
{
    char format[256], text[512];

    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        compare_text(used[i].format, used[i].text);
        compare_file(used[i].format, used[i].text);
    }
    for (int i = 0; i < 200000; i++) {
        size_t row = below(sizeof used / sizeof *used);
        spoil(text, used[row].text);
        compare_text(used[row].format, text);
        if (!below(4))
            compare_file(used[row].format, text);
    }
    for (int i = 0; i < 400000; i++) {
        random_format(format);
        random_text(text);
        compare_text(format, text);
        if (!below(4))
            compare_file(format, text);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_refusal(refused[i]);
    FAULTS("fscanf", lab_fscanf(lab_stdin, "%d", our_slots));
}
