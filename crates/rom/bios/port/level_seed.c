/* Seeds beyond the first: a level seed gives each dungeon a generator of its own for
 * making levels, and reseeding goes back to the first seeds at each level. */
#include "port.h"
#include "isaac64.h"

/* As many as dungeon.def has: the states must exist before the game reads it. */
#define DUNGEONS 8

extern void nethack_mklev(void);
extern int nethack_getbones(void);
extern void nethack_reseed_random(int (*)(int));

/* On the heap and only where there is a level seed, so that no other image carries
 * its 37 kB. */
static struct levels {
    isaac64_ctx dungeon[DUNGEONS];
    isaac64_ctx core;
    int inside; /* a dungeon's state stands in for the core state */
} *levels;

static int level_entry; /* mklev() has begun and not yet seeded anew */

static void seed_state(isaac64_ctx *state, uint64_t seed)
{
    unsigned char bytes[sizeof seed];

    memcpy(bytes, &seed, sizeof bytes);
    isaac64_init(state, bytes, sizeof bytes);
}

void levels_power_on(void)
{
    isaac64_ctx base;
    int i;

    has_strong_rngseed = (mailbox.flags & POWER_RESEED) != 0;
    if (!(mailbox.flags & POWER_LEVEL_SEED))
        return;
    levels = (struct levels *) alloc(sizeof *levels);
    memset(levels, 0, sizeof *levels);
    seed_state(&base, mailbox.seed_level);
    for (i = 0; i < DUNGEONS; i++)
        seed_state(&levels->dungeon[i], isaac64_next_uint64(&base));
}

void levels_enter(int dungeon)
{
    if (!levels || levels->inside)
        return;
    levels->core = *random_core();
    *random_core() = levels->dungeon[dungeon];
    levels->inside = 1;
}

static void levels_leave(int dungeon)
{
    if (!levels || !levels->inside)
        return;
    levels->dungeon[dungeon] = *random_core();
    *random_core() = levels->core;
    levels->inside = 0;
}

void mklev(void)
{
    level_entry = 1;
    nethack_mklev();
}

/* mklev() has seeded anew and draws its first number next. A level from a bones file
 * is not left through levels_leave(), as in NLE. */
int getbones(void)
{
    level_entry = 0;
    levels_enter(u.uz.dnum);
    return nethack_getbones();
}

/* At its end mklev() seeds anew, which is meant for the core state. */
void reseed_random(int (*generator)(int))
{
    if (!level_entry)
        levels_leave(u.uz.dnum);
    nethack_reseed_random(generator);
}

/* All seeds come from the power-on record; until the boot point nothing random may
 * matter. */
void init_random(int (*generator)(int))
{
    init_isaac64(generator == rn2 ? mailbox.seed_core : mailbox.seed_display, generator);
}
