/* The trainer's own main: plays every game of training.bin as a host would, with the
 * looks that a host takes, and then writes the counts. */
#include "trainer.h"

#include "port/observe.h"
#include "port/frame.h"

extern unsigned char rom_globals_start[], rom_data_end[], rom_globals_end[];
extern void stack_resume(void), rom_power_on(void), rom_scrub(void);

/* One game of the list; its options' text and its keys follow. */
struct game {
    uint64_t seed_core, seed_display;
    int64_t clock;
    uint32_t flags, options, keys; /* POWER_*, lengths */
    uint32_t unused;
};

/* A whole frame is looked at after every so many keys, and so are its parts. */
#define KEYS_A_LOOK 4

#define LIST_BYTES_MAX (16u << 20)
#define FRAME_BYTES (1u << 20)
#define LIST_BASE ((const void *) 0x14000000000)
#define FRAME_BASE ((const void *) 0x15000000000)
#define LINKED_BASE ((const void *) 0x16000000000)

static unsigned char *list, *list_end, *frame, *linked;
static unsigned char generators[GENERATORS_BYTES];
static struct observation observation;

/* Where thread-local variables lie: below the address that %fs holds, which points to
 * itself. Only the counting of calls through pointers has one. */
static uint64_t thread[64];

static void set_thread(void)
{
    enum { SET_FS = 0x1002 };
    uint64_t *self = &thread[63];

    *self = (uint64_t) self;
    if (kernel(CALL_PRCTL, SET_FS, (long) self, 0, 0, 0, 0))
        GIVE_UP();
}

static void read_list(void)
{
    long file = kernel(CALL_OPEN, (long) "training.bin", 0, 0, 0, 0, 0), got;

    if (file < 0)
        GIVE_UP();
    list_end = list = memory(LIST_BASE, LIST_BYTES_MAX);
    do {
        got = kernel(CALL_READ, file, (long) list_end, (long) (list + LIST_BYTES_MAX - list_end), 0, 0, 0);
        if (got < 0)
            GIVE_UP();
        list_end += got;
    } while (got);
}

/* The regions as a host gives them, and the globals as they are linked. */
static void clear_machine(void)
{
    static const struct {
        uint64_t base, bytes;
    } regions[] = { { HEAP_BASE, HEAP_BYTES }, { STACK_BASE, STACK_BYTES }, { DISK_BASE, DISK_BYTES } };
    size_t i;

    for (i = 0; i < SIZE(regions); i++) {
        /* The first time there is nothing to give back. */
        (void) kernel(CALL_MUNMAP, (long) regions[i].base, (long) regions[i].bytes, 0, 0, 0, 0);
        (void) memory((const void *) regions[i].base, regions[i].bytes);
    }
    memcpy(rom_globals_start, linked, (size_t) (rom_globals_end - rom_globals_start));
}

static void run(void)
{
    stack_resume();
    rom_scrub();
}

static void look(void)
{
    if (rom_frame(frame, FRAME_BYTES) > FRAME_BYTES)
        GIVE_UP();
    rom_observe(&observation, ~0u);
    random_write(generators);
}

static void play(const struct game *game, const char *options, const unsigned char *keys)
{
    uint32_t i;

    clear_machine();
    if (game->options >= OPTIONS_BYTES)
        GIVE_UP();
    memcpy(mailbox.options, options, game->options);
    mailbox.flags = game->flags;
    rom_power_on();
    run();
    if (mailbox.reason != YIELD_BOOT)
        GIVE_UP();
    mailbox.clock = game->clock;
    mailbox.seed_core = game->seed_core;
    mailbox.seed_display = game->seed_display;
    run();
    for (i = 0; i < game->keys && mailbox.reason == YIELD_KEY; i++) {
        mailbox.key = keys[i];
        run();
        if (i % KEYS_A_LOOK == 0)
            look();
    }
    if (mailbox.reason == YIELD_FAULT)
        GIVE_UP();
}

static void play_all(void)
{
    const unsigned char *at = list;

    while (at < list_end) {
        struct game game;
        const unsigned char *options = at + sizeof game;

        if ((size_t) (list_end - at) < sizeof game)
            GIVE_UP();
        memcpy(&game, at, sizeof game);
        if ((size_t) (list_end - options) < (size_t) game.options + game.keys)
            GIVE_UP();
        play(&game, (const char *) options, options + game.options);
        at = options + game.options + game.keys;
    }
}

_Noreturn void trainer_main(void)
{
    size_t bytes = (size_t) (rom_globals_end - rom_globals_start);

    set_thread();
    read_list();
    frame = memory(FRAME_BASE, FRAME_BYTES);
    linked = memory(LINKED_BASE, bytes);
    memcpy(linked, rom_globals_start, bytes);
    play_all();
    profile_write();
    leave(0);
}

/* Everything that play can meet lies at the same address in each run, since how
 * memory is aligned is counted too: buffers, and the stack of the host's side. */
__attribute__((used)) static unsigned char stack[1u << 18] __attribute__((aligned(4096)));

__asm__(".globl trainer_entry\n"
        "trainer_entry:\n"
        "    xor %ebp, %ebp\n"
        "    lea stack + 0x40000(%rip), %rsp\n"
        "    call trainer_main\n");
