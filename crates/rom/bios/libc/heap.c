/* The game's heap: size classes with free lists over a region that only grows.
 * Blocks are never split or joined, so a block's place depends on nothing but the
 * calls the game made. */
#include "bios.h"
#include "libc.h"

#define ALIGNMENT 16

/* Classes of every multiple of 16 bytes up to 1 KiB, then four to a doubling. */
#define SMALL_BYTES 1024
#define SMALL_CLASSES (SMALL_BYTES / ALIGNMENT)
#define CLASSES (SMALL_CLASSES + 1 + 4 * 16)

/* Precedes each payload. */
struct block {
    uint32_t class;
    uint32_t seal; /* tells a live from a free block, and either from anything else */
};

#define SEAL_LIVE 0x6c697665u
#define SEAL_FREE 0x66726565u

struct heap {
    struct region region;
    struct block *free[CLASSES]; /* the next one's address is in the payload */
};

#define HEAP ((struct heap *)HEAP_BASE)

/* The first block's header lies just before an aligned payload. */
#define FIRST_BLOCK (((sizeof(struct heap) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) \
                     + ALIGNMENT - sizeof(struct block))

_Static_assert(sizeof(struct block) + sizeof(struct block *) <= ALIGNMENT, "the smallest block holds a link");
_Static_assert(HEAP_BYTES <= (size_t)SMALL_BYTES << 16, "the classes cover the region");

void heap_power_on(void)
{
    memset(HEAP, 0, FIRST_BLOCK);
    HEAP->region.used = FIRST_BLOCK;
}

/* A seal moves with its block, so that a copy of one elsewhere is not taken for a block. */
static uint32_t seal_of(const struct block *block, uint32_t kind)
{
    return kind ^ (uint32_t)((uintptr_t)block / ALIGNMENT);
}

/* The class for n bytes of payload, and the bytes of its blocks with their headers. */
static uint32_t class_of(size_t n, size_t *bytes)
{
    size_t total = (n + sizeof(struct block) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    unsigned top, shift;
    size_t quarter;

    if (n > HEAP_BYTES)
        bios_fault("heap: a block of %zu bytes is asked for", n);
    if (n < sizeof(struct block *))
        total = ALIGNMENT;
    if (total <= SMALL_BYTES) {
        *bytes = total;
        return (uint32_t)(total / ALIGNMENT);
    }
    top = 63 - (unsigned)__builtin_clzll(total - 1);
    shift = top - 2;
    quarter = (total - 1) >> shift;
    *bytes = (quarter + 1) << shift;
    return SMALL_CLASSES + 1 + (top - 10) * 4 + (uint32_t)(quarter - 4);
}

static size_t class_bytes(uint32_t class)
{
    uint32_t large = class - SMALL_CLASSES - 1;

    if (class <= SMALL_CLASSES)
        return (size_t)class * ALIGNMENT;
    return (size_t)(large % 4 + 5) << (large / 4 + 8);
}

static int is_place_of_block(const struct block *block)
{
    uintptr_t address = (uintptr_t)block;

    return address >= HEAP_BASE + FIRST_BLOCK && address < HEAP_BASE + HEAP->region.used
        && (address + sizeof *block) % ALIGNMENT == 0;
}

/* The bytes are cleared since they may be left from another image. */
static struct block *carve(size_t bytes)
{
    struct block *block = (struct block *)(HEAP_BASE + HEAP->region.used);

    if (bytes > HEAP_BYTES - HEAP->region.used)
        bios_fault("heap: exhausted, %llu bytes are in use", (unsigned long long)HEAP->region.used);
    HEAP->region.used += bytes;
    memset(block, 0, bytes);
    return block;
}

static struct block *take_free(uint32_t class)
{
    struct block *block = HEAP->free[class];

    if (!is_place_of_block(block) || block->class != class || block->seal != seal_of(block, SEAL_FREE))
        bios_fault("heap: the free list of class %u is damaged", class);
    HEAP->free[class] = *(struct block **)(block + 1);
    return block;
}

/* Not under malloc's name, for the compiler knows that one and rewrites its callers. */
static void *take(size_t n)
{
    size_t bytes;
    uint32_t class = class_of(n, &bytes);
    struct block *block = HEAP->free[class] ? take_free(class) : carve(bytes);

    block->class = class;
    block->seal = seal_of(block, SEAL_LIVE);
    return block + 1;
}

static struct block *live_block(void *payload, const char *call)
{
    struct block *block = (struct block *)payload - 1;

    if (!is_place_of_block(block))
        bios_fault("heap: %s of %p, which is no block", call, payload);
    if (block->seal == seal_of(block, SEAL_FREE))
        bios_fault("heap: %s of %p, which is free already", call, payload);
    if (block->seal != seal_of(block, SEAL_LIVE) || block->class == 0 || block->class >= CLASSES)
        bios_fault("heap: %s of %p, whose header is damaged", call, payload);
    return block;
}

static void give_back(struct block *block)
{
    block->seal = seal_of(block, SEAL_FREE);
    *(struct block **)(block + 1) = HEAP->free[block->class];
    HEAP->free[block->class] = block;
}

void *malloc(size_t n)
{
    return take(n);
}

void free(void *payload)
{
    if (payload)
        give_back(live_block(payload, "free"));
}

void *calloc(size_t count, size_t size)
{
    size_t n;
    void *payload;

    if (__builtin_mul_overflow(count, size, &n))
        bios_fault("heap: calloc of %zu times %zu bytes", count, size);
    payload = take(n);
    return memset(payload, 0, n);
}

void *realloc(void *payload, size_t n)
{
    struct block *block;
    size_t bytes, old;
    void *moved;

    if (!payload)
        return take(n);
    block = live_block(payload, "realloc");
    if (class_of(n, &bytes) == block->class)
        return payload;
    old = class_bytes(block->class) - sizeof *block;
    moved = take(n);
    memcpy(moved, payload, n < old ? n : old);
    give_back(block);
    return moved;
}
