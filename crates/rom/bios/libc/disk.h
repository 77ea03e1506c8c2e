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
};

/* Both return null and set errno when there is no such file, or no such name. */
struct file *disk_find(const char *path);
struct file *disk_create(const char *path);

void disk_truncate(struct file *file);
void disk_write(struct file *file, uint64_t position, const void *bytes, size_t n);
void disk_opened(struct file *file);
void disk_closed(struct file *file);

#endif
