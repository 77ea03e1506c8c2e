/* Descriptors as the streams see them. */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

#include <stddef.h>

/* Whether fd is open for reading (ABI_O_RDONLY) or writing (ABI_O_WRONLY); sets
 * errno when it isn't. */
int descriptor_allows(int fd, int access_mode);

/* Whether fd is the keyboard and screen. */
int descriptor_is_terminal(int fd);

/* Makes every write go to the file's end. */
void descriptor_append(int fd);

/* The bytes of an open file from its position on, without moving it. */
const char *descriptor_ahead(int fd, size_t *n);
void descriptor_skip(int fd, size_t n);

#endif
