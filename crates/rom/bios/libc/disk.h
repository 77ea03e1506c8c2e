/* Files as the descriptors see them. */
#ifndef DISK_H
#define DISK_H

#include "bios.h"

enum file_state { FILE_NONE, FILE_NAMED, FILE_UNLINKED /* but still open */ };

struct file {
    char name[DISK_NAME_BYTES];
    unsigned char *bytes; /* in the region, or in the ROM when read-only */
    uint64_t length, capacity;
    uint16_t state; /* enum file_state */
    uint16_t read_only;
    uint32_t opens; /* descriptors that refer to it */
    /* The disk's write counter when name or bytes changed last. No two changes of one
     * run share a number, so a machine and an image that it has come from hold the
     * same bytes wherever they hold the same number. */
    uint64_t written;
};

struct extent {
    struct extent *next;
};

#define EXTENT_BYTES_MIN 512
#define EXTENT_ALIGNMENT 64
#define EXTENT_CLASSES 17 /* 512 bytes to 32 MiB */

/* The head of the disk's region. Bytes that no file has, beyond a file's length and
 * of extents that were given back, are zero but for the link of the latter. Keep
 * crates/machine/src/contract.rs in step. */
struct disk {
    struct region region;
    uint64_t slots;  /* of the table that were ever used */
    uint64_t writes; /* counts every change of a file */
    struct extent *free[EXTENT_CLASSES];
    struct file files[DISK_FILES_MAX];
};

/* Extents follow the head. */
#define DISK_HEAD_BYTES \
    ((sizeof(struct disk) + EXTENT_ALIGNMENT - 1) & ~(size_t)(EXTENT_ALIGNMENT - 1))

/* Both return null and set errno when there is no such file, or no such name. */
struct file *disk_find(const char *path);
struct file *disk_create(const char *path);

void disk_truncate(struct file *file);
void disk_write(struct file *file, uint64_t position, const void *bytes, size_t n);
void disk_opened(struct file *file);
void disk_closed(struct file *file);

#endif
