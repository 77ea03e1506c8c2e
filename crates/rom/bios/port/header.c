/* The table through which a host finds everything in the ROM: its entry point. */
#include "../libc/disk.h"
#include "edit.h"
#include "frame.h"
#include "hidden.h"
#include "isaac64.h"
#include "observe.h"

extern const char rom_engine_id[], rom_nethack_version[], rom_tarball_sha256[], rom_compiler[],
    rom_flags[];
extern unsigned char rom_globals_start[], rom_data_end[], rom_globals_end[];
extern void stack_resume(void), stack_abandon(void);
extern void rom_power_on(void), rom_scrub(void);
extern isaac64_ctx *const random_contexts[2];

/* What the host needs of the end of a game. */
static void rom_ending(struct ending *out)
{
    *out = ending;
}

/* What the host needs for a play digest, without a whole frame. */
struct instant {
    const void *chars, *colors, *attributes;
    uint8_t row, column, pending, unused[5];
    int64_t turn;
};

static void rom_instant(struct instant *out)
{
    memset(out, 0, sizeof *out);
    out->chars = terminal.chars;
    out->colors = terminal.colors;
    out->attributes = terminal.attributes;
    out->row = (uint8_t) terminal.row;
    out->column =
        (uint8_t) (terminal.column < TERMINAL_COLUMNS ? terminal.column : TERMINAL_COLUMNS - 1);
    out->pending = (uint8_t) pending_kind();
    out->turn = moves;
}

/* Keep crates/machine/src/contract.rs in step. */
const struct rom_header {
    char magic[8];
    uint32_t contract;
    uint32_t header_bytes;
    const char *engine_id, *nethack_version, *tarball_sha256, *compiler, *flags;
    unsigned char *globals_start, *data_end, *globals_end;
    struct mailbox *mailbox;
    void (*power_on)(void);
    void (*resume)(void);
    void (*abandon)(void);
    void (*scrub)(void);
    size_t (*frame)(unsigned char *, size_t);
    void (*instant)(struct instant *);
    void (*ending)(struct ending *);
    void (*generators)(unsigned char *);
    void (*seed)(uint64_t, uint64_t);
    int (*disk_entry)(unsigned, const char **, const void **, size_t *, int *);
    uint32_t disk_files_max;
    uint32_t frame_head_bytes;
    void (*observe)(struct observation *, uint32_t);
    uint32_t observation_bytes;
    uint32_t context_bytes;
    isaac64_ctx *const *contexts; /* core, display */
    uint32_t disk_head_bytes, disk_files_offset, disk_file_bytes, disk_free_offset;
    size_t (*hidden)(uint32_t, char *, size_t);
    struct edit_box *edit_box;
    uint32_t edit_box_bytes;
} rom_header = {
    ROM_MAGIC,
    ROM_CONTRACT,
    sizeof(struct rom_header),
    rom_engine_id,
    rom_nethack_version,
    rom_tarball_sha256,
    rom_compiler,
    rom_flags,
    rom_globals_start,
    rom_data_end,
    rom_globals_end,
    &mailbox,
    rom_power_on,
    stack_resume,
    stack_abandon,
    rom_scrub,
    rom_frame,
    rom_instant,
    rom_ending,
    random_write,
    random_seed,
    disk_entry,
    DISK_FILES_MAX,
    sizeof(struct frame_head),
    rom_observe,
    sizeof(struct observation),
    sizeof(isaac64_ctx),
    random_contexts,
    DISK_HEAD_BYTES,
    offsetof(struct disk, files),
    sizeof(struct file),
    offsetof(struct disk, free),
    rom_hidden,
    &edit_box,
    sizeof(struct edit_box),
};
