/* The heap: patterns survive, regions are fenced, the image depends on the calls
 * alone, and every misuse that can be seen stops the machine. */
#include "harness.h"

#define BLOCKS 400

struct live {
    unsigned char *bytes;
    size_t n;
    unsigned char pattern;
};

static struct live blocks[BLOCKS];

static uint64_t used(void)
{
    return ((struct region *)HEAP_BASE)->used;
}

static void check_pattern(const struct live *block)
{
    for (size_t i = 0; i < block->n; i++)
        CHECK(block->bytes[i] == block->pattern, "byte %zu of a block of %zu bytes is damaged", i, block->n);
}

static void take_over(struct live *block, void *bytes, size_t n)
{
    CHECK((uintptr_t)bytes % 16 == 0, "%p is not aligned", bytes);
    CHECK((uintptr_t)bytes > HEAP_BASE && (uintptr_t)bytes + n <= HEAP_BASE + used(),
          "%p lies outside the used region", bytes);
    *block = (struct live){bytes, n, (unsigned char)random_word()};
    memset(bytes, block->pattern, n);
}

static size_t random_size(void)
{
    unsigned kind = below(64);

    return kind == 0 ? below(200000) : kind < 8 ? below(5000) : below(300);
}

static void step(struct live *block)
{
    size_t n = random_size(), kept;

    if (!block->bytes) {
        if (below(4)) {
            take_over(block, lab_malloc(n), n);
        } else {
            unsigned char *bytes = lab_calloc(n / 3 + 1, 3);
            for (size_t i = 0; i < n / 3 * 3 + 3; i++)
                CHECK(!bytes[i], "calloc gives a byte that is not zero");
            take_over(block, bytes, n / 3 * 3 + 3);
        }
        return;
    }
    check_pattern(block);
    if (below(4)) {
        lab_free(block->bytes);
        block->bytes = NULL;
        return;
    }
    kept = n < block->n ? n : block->n;
    block->bytes = lab_realloc(block->bytes, n);
    block->n = kept;
    check_pattern(block);
    take_over(block, block->bytes, n);
}

static void run(int steps)
{
    heap_power_on();
    memset(blocks, 0, sizeof blocks);
    while (steps--)
        step(&blocks[below(BLOCKS)]);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].bytes)
            check_pattern(&blocks[i]);
}

/* The region's old bytes stand for another image that was loaded before. The steps
 * write only patterns, which differ between runs, so here nothing is written. */
static void check_image(void)
{
    static unsigned char first[1 << 20];
    uint64_t length = 0;

    for (int round = 0; round < 2; round++) {
        void *taken[64] = {0};
        memset((void *)HEAP_BASE, round ? 0xee : 0x11, sizeof first);
        heap_power_on();
        for (int i = 0; i < 3000; i++) {
            unsigned slot = (unsigned)i * 7919 % 64;
            if (taken[slot])
                lab_free(taken[slot]);
            taken[slot] = lab_malloc((unsigned)i * 31 % 700);
        }
        CHECK(used() <= sizeof first, "the check's buffer is too small");
        if (!round) {
            length = used();
            memcpy(first, (void *)HEAP_BASE, length);
        }
        CHECK(used() == length && !memcmp(first, (void *)HEAP_BASE, length),
              "the image depends on what was there before");
    }
}

/* Blocks of one size come back in place of growing the region. */
static void check_reuse(void)
{
    void *taken[100];
    uint64_t after_first = 0;

    heap_power_on();
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++)
            taken[i] = lab_malloc(1 + (size_t)i * i);
        for (int i = 0; i < 100; i++)
            lab_free(taken[i]);
        if (!round)
            after_first = used();
    }
    CHECK(used() == after_first, "freed blocks are not used again");
}

static void check_misuse(void)
{
    static char elsewhere[64] __attribute__((aligned(16)));
    char *volatile a, *volatile b;

    heap_power_on();
    a = lab_malloc(40);
    b = lab_malloc(40);
    lab_free(NULL);
    FAULTS("no block", lab_free(elsewhere + 16));
    FAULTS("no block", lab_free(a + 8));
    FAULTS("no block", lab_free((char *)HEAP_BASE + 16));
    FAULTS("header is damaged", lab_free(a + 16));
    memset(a, 7, 48);
    FAULTS("header is damaged", lab_free(b));
    FAULTS("header is damaged", lab_realloc(b, 100));
    lab_free(a);
    FAULTS("free already", lab_free(a));
    FAULTS("free already", lab_realloc(a, 100));
    *(uint64_t *)a = 0x4141414141414141;
    a = lab_malloc(40);
    FAULTS("free list", lab_malloc(40));

    heap_power_on();
    FAULTS("asked for", lab_malloc(HEAP_BYTES + 1));
    FAULTS("asked for", lab_malloc(SIZE_MAX));
    FAULTS("exhausted", lab_malloc(HEAP_BYTES));
    FAULTS("calloc", lab_calloc(SIZE_MAX / 2, 3));
    FAULTS("exhausted", for (;;) lab_malloc(1 << 20));
    FAULTS("exhausted", for (;;) lab_malloc(100));
    CHECK(used() <= HEAP_BYTES, "the region is overrun");
}

void suite_heap(void)
{
    run(300000);
    for (int i = 0; i < 20; i++)
        run(2000);
    check_image();
    check_reuse();
    check_misuse();
    heap_power_on();
}
