/* Power-on, the yield, and the scrubbing of the stack. */
#include "port.h"
#include "dlb.h"

#include <emmintrin.h>

extern void stack_yield(void);

extern const unsigned char rom_data_nhdat[], rom_data_nhdat_end[];
extern const unsigned char rom_data_symbols[], rom_data_symbols_end[];
extern const unsigned char rom_data_license[], rom_data_license_end[];

/* Who may enter debug or explore mode is decided by the power-on record alone,
 * through check_user_string(). */
static const char who_may[] = "WIZARDS=*\nEXPLORERS=*\nMAXPLAYERS=1\nSUPPORT=nobody\n";

#define MXCSR_DEFAULT 0x1f80u
#define X87_DEFAULT 0x037full

_Static_assert(offsetof(struct mailbox, stack_pointer) == MAILBOX_STACK_POINTER,
               "stack.S looks elsewhere");

/* What stack_resume pops to enter a function for the first time. */
struct first_frame {
    uint64_t control; /* MXCSR, x87 control word */
    uint64_t saved[6];
    uint64_t entry;
    uint64_t no_return; /* an empty return address ends every walk */
};

static void enter_at(void (*function)(void))
{
    struct first_frame *frame =
        (struct first_frame *) (STACK_BASE + STACK_BYTES - 64 - sizeof *frame);

    memset(frame, 0, sizeof *frame);
    frame->control = MXCSR_DEFAULT | X87_DEFAULT << 32;
    frame->entry = (uint64_t) function;
    mailbox.stack_pointer = (uint64_t) frame;
}

static void add_file(const char *name, const unsigned char *start, const unsigned char *end)
{
    disk_add_read_only(name, start, (size_t) (end - start));
}

/* Called by the host once its regions are empty and the globals are as linked. */
void rom_power_on(void)
{
    heap_power_on();
    disk_power_on();
    add_file(DLBFILE, rom_data_nhdat, rom_data_nhdat_end);
    /* NLE's folder lacks these. */
    if (!nle_habits()) {
        add_file("symbols", rom_data_symbols, rom_data_symbols_end);
        add_file("license", rom_data_license, rom_data_license_end);
    }
    disk_add_read_only("sysconf", who_may, sizeof who_may - 1);
    disk_add_read_only("perm", who_may, 0);
    enter_at(game_main);
}

int bios_yield(int reason)
{
    mailbox.reason = reason;
    stack_yield();
    return mailbox.key;
}

#define BLOCK 1024
/* So many in a row hide no frame: see rom_scrub(). */
#define CLEAN_BLOCKS (FRAME_BYTES_MAX / BLOCK + 1)
_Static_assert(CLEAN_BLOCKS * BLOCK >= FRAME_BYTES_MAX + 128 + 2 * 8, "a frame may hide in the run");

static int clean(const unsigned char *block)
{
    const __m128i *word = (const __m128i *) block;
    __m128i any = _mm_setzero_si128();
    int i;

    for (i = 0; i < BLOCK / (int) sizeof *word; i += 4)
        any = _mm_or_si128(any, _mm_or_si128(_mm_or_si128(word[i], word[i + 1]),
                                             _mm_or_si128(word[i + 2], word[i + 3])));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) == 0xffff;
}

/* Zeroes what the game left on its stack below where it stopped, so that nothing
 * that happened before can show through a variable that a function never set.
 *
 * Every call writes a return address, which is never zero, and no frame of the ROM
 * is larger than FRAME_BYTES_MAX (the build sees to that); what calls nothing may
 * write 128 bytes below its frame. So a longer run of zeroes means that nothing was
 * written below it. Most of the time goes into looking for that run, so it is no
 * longer than it must be. */
void rom_scrub(void)
{
    unsigned char *start = (unsigned char *) mailbox.stack_pointer;
    unsigned char *block = (unsigned char *) ((uint64_t) start & ~(uint64_t) (BLOCK - 1));
    int run = 0;

    memset(block, 0, (size_t) (start - block));
    while (run < CLEAN_BLOCKS && block > (unsigned char *) STACK_BASE) {
        block -= BLOCK;
        if (clean(block)) {
            run++;
        } else {
            memset(block, 0, BLOCK);
            run = 0;
        }
    }
}
