/* Memory and strings, in two fenced arenas with equal bytes: ours works in one,
 * glibc in the other, and afterwards all bytes must be equal still. */
#include "harness.h"

static unsigned char *ours, *theirs;

static void same_arenas(const char *call)
{
    CHECK(!memcmp(ours, theirs, ARENA_BYTES), "%s leaves other bytes than glibc's", call);
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void same_place(const char *call, const void *our, const void *their)
{
    ptrdiff_t our_at = our ? (const unsigned char *)our - ours : -1;
    ptrdiff_t their_at = their ? (const unsigned char *)their - theirs : -1;

    CHECK(our_at == their_at, "%s gives place %td, glibc's %td", call, our_at, their_at);
}

/* A length that is short as a rule, and now and then beyond the wide paths. */
static size_t random_length(void)
{
    unsigned kind = below(16);

    return kind == 0 ? below(3000) : kind < 4 ? below(300) : below(40);
}

/* Where n bytes go in one half of the arena: flush with a fence every other time. */
static size_t place_in(unsigned half, size_t n)
{
    size_t room = ARENA_BYTES / 2 - n;

    if (below(2))
        return half ? ARENA_BYTES - n : 0;
    return half * ARENA_BYTES / 2 + below((unsigned)room + 1);
}

/* Writes a string of n bytes from a small alphabet, so that searches find something. */
static size_t place_string(unsigned half, size_t n)
{
    size_t at = place_in(half, n + 1);

    for (size_t i = 0; i < n; i++)
        ours[at + i] = theirs[at + i] = (unsigned char)"abcde\x80\xff\x01"[below(8)];
    ours[at + n] = theirs[at + n] = '\0';
    return at;
}

static void moves(void)
{
    size_t n = random_length();
    size_t from = place_in(0, n), to = place_in(1, n);
    int byte = between(-300, 300);

    same_place("memcpy", lab_memcpy(ours + to, ours + from, n), memcpy(theirs + to, theirs + from, n));
    same_arenas("memcpy");
    to = below((unsigned)(ARENA_BYTES - n) + 1);
    from = below(2) ? below((unsigned)(ARENA_BYTES - n) + 1) : to;
    if (from + 20 < ARENA_BYTES - n)
        from += below(20);
    same_place("memmove", lab_memmove(ours + to, ours + from, n), memmove(theirs + to, theirs + from, n));
    same_arenas("memmove");
    to = place_in(below(2), n);
    same_place("memset", lab_memset(ours + to, byte, n), memset(theirs + to, byte, n));
    same_arenas("memset");
}

static void memory_reads(void)
{
    size_t n = random_length();
    size_t a = place_in(0, n), b = place_in(1, n);
    int byte = between(-300, 300);

    memcpy(ours + b, ours + a, n);
    memcpy(theirs + b, theirs + a, n);
    if (n && below(2)) {
        size_t i = below((unsigned)n);
        ours[b + i] = theirs[b + i] = (unsigned char)random_word();
    }
    CHECK(sign(lab_memcmp(ours + a, ours + b, n)) == sign(memcmp(theirs + a, theirs + b, n)), "memcmp of %zu", n);
    same_place("memchr", lab_memchr(ours + a, byte, n), memchr(theirs + a, byte, n));
    /* A length beyond the memory is fine while the byte comes first. */
    if (n) {
        byte = ours[b + below((unsigned)n)];
        same_place("memchr", lab_memchr(ours + b, byte, SIZE_MAX), memchr(theirs + b, byte, n));
    }
}

static void string_reads(void)
{
    size_t n = random_length();
    size_t at = place_string(below(2), n);
    const char *our = (char *)ours + at, *their = (char *)theirs + at;
    int c = below(8) ? "abcde\x80\xff\x01"[below(8)] : between(-300, 300);
    char part[8];
    size_t part_length = below(4);

    for (size_t i = 0; i < part_length; i++)
        part[i] = "abcde"[below(below(5) + 1)];
    part[part_length] = '\0';
    CHECK(lab_strlen(our) == n, "strlen gives %zu for %zu", lab_strlen(our), n);
    same_place("strchr", lab_strchr(our, c), strchr(their, c));
    same_place("strchr", lab_strchr(our, 0), strchr(their, 0));
    same_place("strrchr", lab_strrchr(our, c), strrchr(their, c));
    same_place("strrchr", lab_strrchr(our, 0), strrchr(their, 0));
    same_place("strstr", lab_strstr(our, part), strstr(their, part));
}

static void comparisons(void)
{
    size_t n = random_length();
    size_t a = place_string(0, n), b = place_string(1, n);
    size_t limit = below((unsigned)n + 8);
    const char *our_a = (char *)ours + a, *our_b = (char *)ours + b;

    /* Equal up to a point, which may be the end. */
    memcpy(ours + b, ours + a, below((unsigned)n + 1));
    memcpy(theirs + b, ours + b, n);
    CHECK(sign(lab_strcmp(our_a, our_b)) == sign(strcmp(our_a, our_b)), "strcmp");
    CHECK(sign(lab_strncmp(our_a, our_b, limit)) == sign(strncmp(our_a, our_b, limit)), "strncmp");
    CHECK(lab_strcmp(our_a, our_a) == 0, "strcmp of equals");
}

static void string_copies(void)
{
    size_t n = random_length() / 2, have = random_length() / 4;
    size_t limit = below((unsigned)n + 8);
    size_t from = place_string(0, n), to = place_string(1, have);
    char *our_from = (char *)ours + from, *their_from = (char *)theirs + from;
    size_t end = ARENA_BYTES - (n + have + 1);

    same_arenas("placing");
    to = to < end ? to : end; /* room for both; any bytes may stand there */
    ours[to + have] = theirs[to + have] = '\0';
    same_place("strcat", lab_strcat((char *)ours + to, our_from), strcat((char *)theirs + to, their_from));
    same_arenas("strcat");
    ours[to + have] = theirs[to + have] = '\0';
    lab_strncat((char *)ours + to, our_from, limit);
    strncat((char *)theirs + to, their_from, limit);
    same_arenas("strncat");
    to = place_in(1, n + 1);
    same_place("strcpy", lab_strcpy((char *)ours + to, our_from), strcpy((char *)theirs + to, their_from));
    same_arenas("strcpy");
    to = place_in(1, n + 1);
    same_place("stpcpy", lab_stpcpy((char *)ours + to, our_from), stpcpy((char *)theirs + to, their_from));
    same_arenas("stpcpy");
    to = place_in(1, limit);
    same_place("strncpy", lab_strncpy((char *)ours + to, our_from, limit),
               strncpy((char *)theirs + to, their_from, limit));
    same_arenas("strncpy");
}

void suite_string(void)
{
    static void (*const kinds[])(void) = {moves, memory_reads, string_reads, comparisons, string_copies};

    ours = fenced_arena();
    theirs = fenced_arena();
    random_bytes(ours, ARENA_BYTES);
    memcpy(theirs, ours, ARENA_BYTES);
    for (int i = 0; i < 200000; i++)
        kinds[below(sizeof kinds / sizeof *kinds)]();
    same_arenas("everything");
}
