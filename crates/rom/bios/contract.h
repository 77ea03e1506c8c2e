/* The whole seam between a ROM and the host that maps it.
 *
 * The host maps the ELF segments at their linked addresses, reserves the three
 * regions below, calls power_on() once, and then alternates between writing the
 * mailbox and calling resume(). Nothing else of the ROM is the host's business. */
#ifndef CONTRACT_H
#define CONTRACT_H

/* Where the stack switch, which is written in assembly, finds its field. */
#define MAILBOX_STACK_POINTER 48

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#define ROM_MAGIC "NHLABROM"
#define ROM_CONTRACT 3

/* Fixed, so that a pointer inside an image means the same in every process. */
#define HEAP_BASE 0x10000000000ull
#define HEAP_BYTES (64ull << 20)
#define STACK_BASE 0x11000000000ull
#define STACK_BYTES (256ull << 10)
#define DISK_BASE 0x12000000000ull
#define DISK_BYTES (32ull << 20)

/* The longest run of untouched bytes that one stack frame may leave; the build
 * fails when a function of the ROM needs a larger frame. See stack.c. */
#define FRAME_BYTES_MAX 9216

/* Why the game stopped running and the host has control. */
enum yield_reason {
    YIELD_BOOT = 1, /* options are read, nothing random has happened yet */
    YIELD_KEY = 2,  /* a boundary: it waits for mailbox.key */
    YIELD_EXIT = 3, /* the game has ended; it can't be resumed */
    YIELD_FAULT = 4 /* the BIOS met what it doesn't support; fault says what */
};

/* What stands for a key when the game is to read the edit box instead: an operator's
 * change, after which it yields again at the same boundary. */
#define KEY_EDIT 256
#define EDIT_REQUEST_BYTES 1024
#define EDIT_REASON_BYTES 256

#define OPTIONS_BYTES 1024
#define FAULT_BYTES 256

/* Written by the host while the game is stopped, read by the game, and the other
 * way round. Part of the image. */
struct mailbox {
    int32_t reason;      /* enum yield_reason */
    int32_t key;         /* 0..255, or KEY_EDIT */
    int32_t exit_status; /* valid after YIELD_EXIT */
    uint32_t flags;      /* POWER_* */
    int64_t clock;       /* seconds since 1970-01-01 UTC, for the whole game */
    uint64_t seed_core, seed_display, seed_level;
    uint64_t stack_pointer; /* of the stopped game */
    char options[OPTIONS_BYTES];
    char fault[FAULT_BYTES];
};

enum power_flags {
    POWER_LEVEL_SEED = 1, /* seed_level is in force */
    POWER_RESEED = 2,     /* the game may draw new seeds as levels are made */
    POWER_DEBUG = 4,      /* debug and explore mode may be entered */
    POWER_NLE = 8,        /* the habits of NLE 1.3 instead of our own */
    POWER_FIXED_DATE = 16 /* the calendar comes from the core seed, not the clock */
};

#endif
#endif
