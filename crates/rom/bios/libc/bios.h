/* What the library under the game and the port beside it give each other. Holds
 * no libc name, so that code compiled against the host's headers can include it. */
#ifndef BIOS_H
#define BIOS_H

#include "../contract.h"

/* The port's side. */
extern struct mailbox mailbox;
int bios_yield(int reason);
int bios_getkey(void);    /* the next key, 0..255 */
void terminal_put(int c); /* one byte of output */

/* Stops the machine for good with a diagnosis in the mailbox: for what the
 * library doesn't support and for damage it finds. It never guesses. */
_Noreturn void bios_fault(const char *what, ...) __attribute__((format(__printf__, 1, 2)));

/* The first field of each region, so that the host copies exactly what is used. */
struct region {
    uint64_t used; /* bytes from the region's base, this field included */
};

void heap_power_on(void);
void disk_power_on(void);

/* The directory of every file; a path may start with it or leave it out. */
#define DISK_DIRECTORY "/nethack"
#define DISK_FILES_MAX 128
#define DISK_NAME_BYTES 64 /* with the terminator */

/* Adds a file whose bytes stay where they are, in the ROM. */
void disk_add_read_only(const char *name, const void *bytes, size_t length);

/* Finds a file: 1 and its bytes, or 0. */
int disk_file(const char *name, const void **bytes, size_t *length);

/* Looks at slot i < DISK_FILES_MAX: 1 and the file in it, or 0 for an empty slot.
 * Any of the out pointers may be null. */
int disk_entry(unsigned i, const char **name, const void **bytes, size_t *length, int *read_only);

#endif
