/* qsort: stable, and comparison by comparison what glibc does. */
#include "harness.h"

#define ELEMENTS_MAX 3000
#define SIZE_BYTES_MAX 300

/* The address sanitiser makes comparisons of its own in glibc's qsort. */
#ifdef __SANITIZE_ADDRESS__
#define TRACE_IS_DISTURBED 1
#else
#define TRACE_IS_DISTURBED 0
#endif

/* In front of every element; the rest of it is filler that must move along. */
struct tag {
    uint16_t key, id;
};

static uint64_t trace;
static int senseless; /* the order contradicts itself */

static int compare(const void *a, const void *b)
{
    const struct tag *left = a, *right = b;

    trace = (trace ^ ((uint64_t)left->id << 16 | right->id)) * 0x100000001b3u;
    if (senseless)
        return (int)((left->id * 31u ^ right->id * 17u) % 3) - 1;
    return (left->key > right->key) - (left->key < right->key);
}

static void fill(unsigned char *elements, size_t count, size_t size, unsigned keys)
{
    for (size_t i = 0; i < count; i++) {
        struct tag tag = {(uint16_t)below(keys), (uint16_t)i};
        memset(elements + i * size, (int)i, size);
        memcpy(elements + i * size, &tag, sizeof tag);
    }
}

static void check_order(const unsigned char *elements, size_t count, size_t size)
{
    struct tag last = {0, 0}, tag;

    for (size_t i = 0; i < count; i++, last = tag) {
        memcpy(&tag, elements + i * size, sizeof tag);
        CHECK(!i || tag.key > last.key || (tag.key == last.key && tag.id > last.id),
              "element %zu of %zu is out of order", i, count);
    }
}

void suite_sort(void)
{
    static unsigned char our[ELEMENTS_MAX * SIZE_BYTES_MAX], their[ELEMENTS_MAX * SIZE_BYTES_MAX];
    uint64_t used = ((struct region *)HEAP_BASE)->used, our_trace;

    for (int i = 0; i < 20000; i++) {
        size_t count = below(100) ? below(40) : below(ELEMENTS_MAX);
        size_t size = 2 * between(2, below(4) ? 20 : SIZE_BYTES_MAX / 2);

        senseless = !below(8);
        fill(our, count, size, below(2) ? 4 : 60000);
        memcpy(their, our, count * size);
        trace = 0;
        lab_qsort(our, count, size, compare);
        our_trace = trace;
        trace = 0;
        qsort(their, count, size, compare);
        CHECK(!memcmp(our, their, count * size), "%zu elements of %zu bytes differ from glibc's", count, size);
        CHECK(our_trace == trace || TRACE_IS_DISTURBED,
              "%zu elements of %zu bytes: other comparisons than glibc's", count, size);
        if (!senseless)
            check_order(our, count, size);
    }
    /* Its scratch is given back: a long sort again takes no more of the heap. */
    used = ((struct region *)HEAP_BASE)->used;
    lab_qsort(our, 1000, 64, compare);
    lab_qsort(our, 1000, 64, compare);
    CHECK(((struct region *)HEAP_BASE)->used - used <= 40000, "the scratch leaks");
}
