/* Descriptors: open files with their positions, and the terminal as 0, 1 and 2. */
#include "descriptor.h"

#include "disk.h"
#include "libc.h"

#define DESCRIPTORS 32
#define TERMINAL_DESCRIPTORS 3

struct descriptor {
    struct file *file; /* null when closed, and for the terminal */
    uint64_t position;
    int flags; /* as given to open */
};

static struct descriptor descriptors[DESCRIPTORS] = {
    [1] = {.flags = ABI_O_WRONLY},
    [2] = {.flags = ABI_O_WRONLY},
};

int descriptor_is_terminal(int fd)
{
    return fd >= 0 && fd < TERMINAL_DESCRIPTORS;
}

/* Null, with errno set, when fd is not open. */
static struct descriptor *lookup(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS && (fd < TERMINAL_DESCRIPTORS || descriptors[fd].file))
        return &descriptors[fd];
    error_set(ABI_EBADF);
    return NULL;
}

static int allows(const struct descriptor *descriptor, int access_mode)
{
    int mode = descriptor->flags & ABI_O_ACCMODE;

    return mode == ABI_O_RDWR || mode == access_mode;
}

static struct descriptor *lookup_for(int fd, int access_mode)
{
    struct descriptor *descriptor = lookup(fd);

    if (!descriptor || allows(descriptor, access_mode))
        return descriptor;
    error_set(ABI_EBADF);
    return NULL;
}

int descriptor_allows(int fd, int access_mode)
{
    return lookup_for(fd, access_mode) != NULL;
}

void descriptor_append(int fd)
{
    struct descriptor *descriptor = lookup(fd);

    if (descriptor)
        descriptor->flags |= ABI_O_APPEND;
}

const char *descriptor_ahead(int fd, size_t *n)
{
    const struct descriptor *descriptor = &descriptors[fd];
    const struct file *file = descriptor->file;

    *n = descriptor->position < file->length ? file->length - descriptor->position : 0;
    return *n ? (const char *)file->bytes + descriptor->position : "";
}

void descriptor_skip(int fd, size_t n)
{
    descriptors[fd].position += n;
}

/* ---- opening and closing ---- */

static int free_descriptor(const char *path)
{
    for (int fd = TERMINAL_DESCRIPTORS; fd < DESCRIPTORS; fd++)
        if (!descriptors[fd].file)
            return fd;
    bios_fault("open: no descriptor left for %s", path);
}

/* The file that open means, made or emptied as the flags say; null with errno set. */
static struct file *resolve(const char *path, int flags)
{
    struct file *file = disk_find(path);
    int changes = (flags & ABI_O_ACCMODE) != ABI_O_RDONLY || flags & ABI_O_TRUNC;

    if (!file)
        return flags & ABI_O_CREAT ? disk_create(path) : NULL;
    if (flags & ABI_O_CREAT && flags & ABI_O_EXCL) {
        error_set(ABI_EEXIST);
        return NULL;
    }
    if (changes && file->read_only) {
        error_set(ABI_EROFS);
        return NULL;
    }
    if (flags & ABI_O_TRUNC)
        disk_truncate(file);
    return file;
}

int open(const char *path, int flags, ...)
{
    const int known = ABI_O_ACCMODE | ABI_O_CREAT | ABI_O_EXCL | ABI_O_TRUNC | ABI_O_APPEND;
    struct file *file;
    int fd;

    if (flags & ~known || (flags & ABI_O_ACCMODE) == ABI_O_ACCMODE)
        bios_fault("open: unsupported flags %#o for %s", (unsigned)flags, path);
    file = resolve(path, flags);
    if (!file)
        return -1;
    fd = free_descriptor(path);
    disk_opened(file);
    descriptors[fd] = (struct descriptor){file, 0, flags};
    return fd;
}

int creat(const char *path, unsigned mode)
{
    return open(path, ABI_O_WRONLY | ABI_O_CREAT | ABI_O_TRUNC, mode);
}

int close(int fd)
{
    struct descriptor *descriptor = lookup(fd);

    if (!descriptor)
        return -1;
    if (descriptor_is_terminal(fd))
        bios_fault("close: descriptor %d is the terminal", fd);
    disk_closed(descriptor->file);
    *descriptor = (struct descriptor){0};
    return 0;
}

/* ---- moving bytes ---- */

/* As a terminal without line editing: a read returns as soon as it has a key. */
static int64_t read_key(char *to, size_t n)
{
    if (!n)
        return 0;
    *to = (char)bios_getkey();
    return 1;
}

int64_t read(int fd, void *to, size_t n)
{
    struct descriptor *descriptor = lookup_for(fd, ABI_O_RDONLY);
    const char *from;
    size_t ahead;

    if (!descriptor)
        return -1;
    if (descriptor_is_terminal(fd))
        return read_key(to, n);
    from = descriptor_ahead(fd, &ahead);
    if (n > ahead)
        n = ahead;
    memcpy(to, from, n);
    descriptor->position += n;
    return (int64_t)n;
}

int64_t write(int fd, const void *from, size_t n)
{
    struct descriptor *descriptor = lookup_for(fd, ABI_O_WRONLY);
    const unsigned char *bytes = from;

    if (!descriptor)
        return -1;
    if (descriptor_is_terminal(fd)) {
        for (size_t i = 0; i < n; i++)
            terminal_put(bytes[i]);
        return (int64_t)n;
    }
    if (!n)
        return 0;
    if (descriptor->flags & ABI_O_APPEND)
        descriptor->position = descriptor->file->length;
    disk_write(descriptor->file, descriptor->position, from, n);
    descriptor->position += n;
    return (int64_t)n;
}

int64_t lseek(int fd, int64_t offset, int whence)
{
    struct descriptor *descriptor = lookup(fd);
    int64_t base, position;

    if (!descriptor)
        return -1;
    if (descriptor_is_terminal(fd))
        return error_set(ABI_ESPIPE);
    if (whence == ABI_SEEK_SET)
        base = 0;
    else if (whence == ABI_SEEK_CUR)
        base = (int64_t)descriptor->position;
    else if (whence == ABI_SEEK_END)
        base = (int64_t)descriptor->file->length;
    else
        return error_set(ABI_EINVAL);
    if (__builtin_add_overflow(base, offset, &position))
        return error_set(ABI_EOVERFLOW);
    if (position < 0)
        return error_set(ABI_EINVAL);
    descriptor->position = (uint64_t)position;
    return position;
}

/* There is one process, so it gets every lock it asks for. */
int fcntl(int fd, int command, ...)
{
    if (!lookup(fd))
        return -1;
    if (command != ABI_F_SETLK && command != ABI_F_SETLKW)
        bios_fault("fcntl: unsupported command %d", command);
    return 0;
}
