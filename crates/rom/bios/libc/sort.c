/* A stable sort. It asks for the same comparisons in the same order as glibc's
 * merge sort: level generation and the inventory depend on the order of ties, and
 * a comparison may itself change the game. */
#include "libc.h"

#define SCRATCH_BYTES 2048

struct sorter {
    size_t size; /* of an element */
    int (*compare)(const void *, const void *);
    char *scratch; /* room for half the elements, rounded down */
};

/* Merges two sorted neighbours: the left one moves to the scratch and both flow
 * back into place from the front. */
static void merge(const struct sorter *sorter, char *base, size_t left_count, size_t count)
{
    size_t size = sorter->size;
    char *left = sorter->scratch, *left_end = left + left_count * size;
    char *right = base + left_count * size, *right_end = base + count * size;
    char *to = base;

    memcpy(left, base, left_count * size);
    while (left < left_end && right < right_end) {
        char **from = sorter->compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *from, size);
        *from += size;
        to += size;
    }
    memcpy(to, left, (size_t)(left_end - left));
}

static void sort(const struct sorter *sorter, char *base, size_t count)
{
    size_t left_count = count / 2;

    if (count < 2)
        return;
    sort(sorter, base, left_count);
    sort(sorter, base + left_count * sorter->size, count - left_count);
    merge(sorter, base, left_count, count);
}

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char local[SCRATCH_BYTES] __attribute__((aligned(16)));
    size_t need = count / 2 * size;
    struct sorter sorter = {size, compare, local};

    if (need > sizeof local)
        sorter.scratch = malloc(need);
    sort(&sorter, base, count);
    if (need > sizeof local)
        free(sorter.scratch);
}
