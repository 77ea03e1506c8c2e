/* Memory and strings. The wide paths use SSE2, which every x86-64 has. */
#include "libc.h"

typedef char v16 __attribute__((vector_size(16), may_alias));
typedef char v16_unaligned __attribute__((vector_size(16), may_alias, aligned(1)));
typedef uint64_t u64_unaligned __attribute__((may_alias, aligned(1)));
typedef uint32_t u32_unaligned __attribute__((may_alias, aligned(1)));
typedef uint16_t u16_unaligned __attribute__((may_alias, aligned(1)));

/* The compiler makes calls to these of its own accord, also where no source names
 * them, so link-time optimisation must not drop them. */
#define KEEP __attribute__((used))

/* An aligned 16-byte read stays within a page, so it can't fault where one of its
 * bytes may be read; the sanitiser can't know that. */
#define READS_WHOLE_BLOCKS __attribute__((no_sanitize("address")))

/* From here on the string instructions beat a loop. */
#define LONG_COPY_BYTES 1024

static inline unsigned equal_mask(v16 block, v16 wanted)
{
    return (unsigned)__builtin_ia32_pmovmskb128((v16)(block == wanted));
}

static inline v16 repeated(int byte)
{
    return (v16){0} + (char)byte;
}

/* Up to 16 bytes as two overlapping words: every byte is loaded before one is stored. */
static inline void copy_short(unsigned char *to, const unsigned char *from, size_t n)
{
    if (n >= 8) {
        uint64_t head = *(const u64_unaligned *)from;
        uint64_t tail = *(const u64_unaligned *)(from + n - 8);
        *(u64_unaligned *)to = head;
        *(u64_unaligned *)(to + n - 8) = tail;
    } else if (n >= 4) {
        uint32_t head = *(const u32_unaligned *)from;
        uint32_t tail = *(const u32_unaligned *)(from + n - 4);
        *(u32_unaligned *)to = head;
        *(u32_unaligned *)(to + n - 4) = tail;
    } else if (n >= 2) {
        uint16_t head = *(const u16_unaligned *)from;
        uint16_t tail = *(const u16_unaligned *)(from + n - 2);
        *(u16_unaligned *)to = head;
        *(u16_unaligned *)(to + n - 2) = tail;
    } else if (n) {
        *to = *from;
    }
}

KEEP void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *target = to;
    const unsigned char *source = from;

    if (n <= 16) {
        copy_short(target, source, n);
    } else if (n < LONG_COPY_BYTES) {
        v16 tail = *(const v16_unaligned *)(source + n - 16);
        unsigned char *last = target + n - 16;
        for (; target < last; target += 16, source += 16)
            *(v16_unaligned *)target = *(const v16_unaligned *)source;
        *(v16_unaligned *)last = tail;
    } else {
        __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(n) : : "memory");
    }
    return to;
}

static void copy_backward(unsigned char *to, const unsigned char *from, size_t n)
{
    while (n > 16) {
        n -= 16;
        *(v16_unaligned *)(to + n) = *(const v16_unaligned *)(from + n);
    }
    copy_short(to, from, n);
}

static void copy_forward(unsigned char *to, const unsigned char *from, size_t n)
{
    for (; n > 16; n -= 16, to += 16, from += 16)
        *(v16_unaligned *)to = *(const v16_unaligned *)from;
    copy_short(to, from, n);
}

KEEP void *memmove(void *to, const void *from, size_t n)
{
    uintptr_t distance = (uintptr_t)to - (uintptr_t)from;

    if (distance >= n)
        copy_forward(to, from, n);
    else
        copy_backward(to, from, n);
    return to;
}

KEEP void *memset(void *to, int byte, size_t n)
{
    unsigned char *target = to;

    if (n < 16) {
        uint64_t word = 0x0101010101010101u * (unsigned char)byte;
        if (n >= 8) {
            *(u64_unaligned *)target = word;
            *(u64_unaligned *)(target + n - 8) = word;
        } else if (n >= 4) {
            *(u32_unaligned *)target = (uint32_t)word;
            *(u32_unaligned *)(target + n - 4) = (uint32_t)word;
        } else {
            for (; n; n--)
                *target++ = (unsigned char)byte;
        }
    } else if (n < LONG_COPY_BYTES) {
        v16 block = repeated(byte);
        unsigned char *last = target + n - 16;
        for (; target < last; target += 16)
            *(v16_unaligned *)target = block;
        *(v16_unaligned *)last = block;
    } else {
        __asm__ volatile("rep stosb" : "+D"(target), "+c"(n) : "a"(byte) : "memory");
    }
    return to;
}

KEEP int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *left = a, *right = b;

    for (; n >= 8; n -= 8, left += 8, right += 8)
        if (*(const u64_unaligned *)left != *(const u64_unaligned *)right)
            break;
    for (; n; n--, left++, right++)
        if (*left != *right)
            return *left - *right;
    return 0;
}

READS_WHOLE_BLOCKS void *memchr(const void *bytes, int byte, size_t n)
{
    const char *start = bytes;
    const char *block = (const char *)((uintptr_t)start & ~(uintptr_t)15);
    unsigned skip = (unsigned)(start - block);
    unsigned mask;

    if (!n)
        return NULL;
    mask = equal_mask(*(const v16 *)block, repeated(byte)) >> skip << skip;
    /* Compared as a count: start + n may lie beyond the end of memory. */
    while (!mask && (size_t)(block - start + 16) < n) {
        block += 16;
        mask = equal_mask(*(const v16 *)block, repeated(byte));
    }
    if (!mask)
        return NULL;
    block += __builtin_ctz(mask);
    return (size_t)(block - start) < n ? (void *)block : NULL;
}

READS_WHOLE_BLOCKS KEEP size_t strlen(const char *text)
{
    const char *block = (const char *)((uintptr_t)text & ~(uintptr_t)15);
    unsigned mask = equal_mask(*(const v16 *)block, (v16){0}) >> (text - block);

    if (mask)
        return (size_t)__builtin_ctz(mask);
    do {
        block += 16;
        mask = equal_mask(*(const v16 *)block, (v16){0});
    } while (!mask);
    return (size_t)(block - text) + (size_t)__builtin_ctz(mask);
}

READS_WHOLE_BLOCKS char *strchr(const char *text, int c)
{
    v16 wanted = repeated(c);
    const char *block = (const char *)((uintptr_t)text & ~(uintptr_t)15);
    unsigned skip = (unsigned)(text - block);
    unsigned mask;

    mask = equal_mask(*(const v16 *)block, wanted) | equal_mask(*(const v16 *)block, (v16){0});
    mask = mask >> skip << skip;
    while (!mask) {
        block += 16;
        mask = equal_mask(*(const v16 *)block, wanted) | equal_mask(*(const v16 *)block, (v16){0});
    }
    block += __builtin_ctz(mask);
    return *block == (char)c ? (char *)block : NULL;
}

char *strrchr(const char *text, int c)
{
    const char *last = NULL;

    for (;; text++) {
        if (*text == (char)c)
            last = text;
        if (!*text)
            return (char *)last;
    }
}

char *strstr(const char *text, const char *part)
{
    size_t rest;

    if (!*part)
        return (char *)text;
    rest = strlen(part + 1);
    while ((text = strchr(text, *part))) {
        if (!strncmp(text + 1, part + 1, rest))
            return (char *)text;
        text++;
    }
    return NULL;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a - (unsigned char)*b;
        if (!*a)
            break;
    }
    return 0;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}

char *stpcpy(char *restrict to, const char *restrict from)
{
    size_t n = strlen(from);

    memcpy(to, from, n + 1);
    return to + n;
}

char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
    size_t i = 0;

    for (; i < n && from[i]; i++)
        to[i] = from[i];
    memset(to + i, 0, n - i);
    return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}

char *strncat(char *restrict to, const char *restrict from, size_t n)
{
    char *end = to + strlen(to);

    for (; n && *from; n--)
        *end++ = *from++;
    *end = '\0';
    return to;
}
