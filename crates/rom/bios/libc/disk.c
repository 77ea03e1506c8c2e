/* The file system: a flat table of files and their bytes, in a region that only
 * grows. Bytes come in powers of two, and those given back are used again. */
#include "disk.h"
#include "libc.h"

#define DISK ((struct disk *)DISK_BASE)

_Static_assert(DISK_BYTES <= (uint64_t)EXTENT_BYTES_MIN << (EXTENT_CLASSES - 1), "the classes cover the region");

void disk_power_on(void)
{
    memset(DISK, 0, DISK_HEAD_BYTES);
    DISK->region.used = DISK_HEAD_BYTES;
}

/* ---- bytes ---- */

static unsigned extent_class(uint64_t bytes)
{
    return (unsigned)__builtin_ctzll(bytes / EXTENT_BYTES_MIN);
}

/* The bytes are cleared since they may be left from another image. */
static unsigned char *carve(uint64_t bytes)
{
    unsigned char *at = (unsigned char *)(DISK_BASE + DISK->region.used);

    if (bytes > DISK_BYTES - DISK->region.used)
        bios_fault("disk: exhausted, %llu bytes are in use", (unsigned long long)DISK->region.used);
    DISK->region.used += bytes;
    return memset(at, 0, bytes);
}

static unsigned char *extent_take(uint64_t bytes)
{
    struct extent **list = &DISK->free[extent_class(bytes)];
    struct extent *extent = *list;

    if (!extent)
        return carve(bytes);
    *list = extent->next;
    extent->next = NULL;
    return (unsigned char *)extent;
}

/* `used` bytes of the extent may be other than zero. */
static void extent_give_back(unsigned char *bytes, uint64_t capacity, uint64_t used)
{
    struct extent **list = &DISK->free[extent_class(capacity)];
    struct extent *extent = memset(bytes, 0, used);

    extent->next = *list;
    *list = extent;
}

static void changed(struct file *file)
{
    file->written = ++DISK->writes;
}

static void grow(struct file *file, uint64_t length)
{
    uint64_t capacity = file->capacity ? file->capacity : EXTENT_BYTES_MIN;
    unsigned char *bytes;

    if (length > DISK_BYTES)
        bios_fault("disk: file %s grows to %llu bytes", file->name, (unsigned long long)length);
    while (capacity < length)
        capacity *= 2;
    bytes = extent_take(capacity);
    if (file->capacity) {
        memcpy(bytes, file->bytes, file->length);
        extent_give_back(file->bytes, file->capacity, file->length);
    }
    file->bytes = bytes;
    file->capacity = capacity;
}

void disk_write(struct file *file, uint64_t position, const void *bytes, size_t n)
{
    uint64_t end;

    if (__builtin_add_overflow(position, n, &end))
        end = UINT64_MAX;
    if (end > file->capacity)
        grow(file, end);
    memcpy(file->bytes + position, bytes, n);
    if (end > file->length)
        file->length = end;
    changed(file);
}

/* Keeps the room: a file that is emptied is about to be written again. */
void disk_truncate(struct file *file)
{
    if (file->length)
        memset(file->bytes, 0, file->length);
    file->length = 0;
    changed(file);
}

/* ---- names ---- */

/* The name that a path stands for, or null with errno set. Other directories than
 * ours don't exist. */
static const char *name_of(const char *path)
{
    const size_t prefix = sizeof DISK_DIRECTORY - 1;

    if (!strncmp(path, DISK_DIRECTORY "/", prefix + 1))
        path += prefix + 1;
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    if (!*path || *path == '/') {
        error_set(ABI_ENOENT);
        return NULL;
    }
    if (strlen(path) >= DISK_NAME_BYTES) {
        error_set(ABI_ENAMETOOLONG);
        return NULL;
    }
    return path;
}

static struct file *find_name(const char *name)
{
    struct file *file = DISK->files;

    for (; file < DISK->files + DISK->slots; file++)
        if (file->state == FILE_NAMED && !strcmp(file->name, name))
            return file;
    return NULL;
}

struct file *disk_find(const char *path)
{
    const char *name = name_of(path);
    struct file *file = name ? find_name(name) : NULL;

    if (name && !file)
        error_set(ABI_ENOENT);
    return file;
}

static void set_name(struct file *file, const char *name)
{
    strncpy(file->name, name, sizeof file->name);
    changed(file);
}

static struct file *free_slot(void)
{
    struct file *file = DISK->files;

    for (; file < DISK->files + DISK->slots; file++)
        if (file->state == FILE_NONE)
            return file;
    if (DISK->slots == DISK_FILES_MAX)
        bios_fault("disk: more than %d files", DISK_FILES_MAX);
    DISK->slots++;
    return file;
}

struct file *disk_create(const char *path)
{
    const char *name = name_of(path);
    struct file *file;

    if (!name)
        return NULL;
    file = free_slot();
    file->state = FILE_NAMED;
    set_name(file, name);
    return file;
}

static void drop_bytes(struct file *file)
{
    if (file->capacity)
        extent_give_back(file->bytes, file->capacity, file->length);
    memset(file, 0, sizeof *file);
}

/* The bytes stay until the last descriptor is closed. */
static void remove_file(struct file *file)
{
    if (file->opens)
        file->state = FILE_UNLINKED;
    else
        drop_bytes(file);
}

void disk_opened(struct file *file)
{
    file->opens++;
}

void disk_closed(struct file *file)
{
    file->opens--;
    if (!file->opens && file->state == FILE_UNLINKED)
        drop_bytes(file);
}

/* ---- calls by name ---- */

int unlink(const char *path)
{
    struct file *file = disk_find(path);

    if (!file)
        return -1;
    if (file->read_only)
        return error_set(ABI_EROFS);
    remove_file(file);
    return 0;
}

int rename(const char *from, const char *to)
{
    struct file *file = disk_find(from), *target;
    const char *name = file ? name_of(to) : NULL;

    if (!name)
        return -1;
    target = find_name(name);
    if (target == file)
        return 0;
    if (file->read_only || (target && target->read_only))
        return error_set(ABI_EROFS);
    if (target)
        remove_file(target);
    set_name(file, name);
    return 0;
}

int access(const char *path, int mode)
{
    struct file *file;

    if (mode & ~(ABI_R_OK | ABI_W_OK | ABI_X_OK))
        return error_set(ABI_EINVAL);
    file = disk_find(path);
    if (!file)
        return -1;
    if (mode & ABI_W_OK && file->read_only)
        return error_set(ABI_EROFS);
    return mode & ABI_X_OK ? error_set(ABI_EACCES) : 0;
}

int stat(const char *path, struct abi_stat *status)
{
    struct file *file = disk_find(path);
    struct abi_timespec now = {mailbox.clock, 0};

    if (!file)
        return -1;
    *status = (struct abi_stat){
        .device = 1,
        .inode = (uint64_t)(file - DISK->files) + 1,
        .links = 1,
        .mode = ABI_S_IFREG | (file->read_only ? 0444 : 0644),
        .user = getuid(),
        .group = getuid(),
        .size = (int64_t)file->length,
        .block_bytes = EXTENT_BYTES_MIN,
        .blocks = (int64_t)((file->length + 511) / 512),
        .accessed = now,
        .modified = now,
        .changed = now,
    };
    return 0;
}

/* ---- the port's side ---- */

void disk_add_read_only(const char *name, const void *bytes, size_t length)
{
    struct file *file;

    if (disk_find(name))
        bios_fault("disk: file %s is added twice", name);
    file = disk_create(name);
    if (!file)
        bios_fault("disk: %s is no file name", name);
    file->bytes = (unsigned char *)bytes;
    file->length = length;
    file->read_only = 1;
}

/* Never null, so that the host can make a slice of it. */
static const void *bytes_of(const struct file *file)
{
    return file->bytes ? file->bytes : (const void *)"";
}

/* Leaves errno alone: the host may ask between two calls of the game. */
int disk_file(const char *name, const void **bytes, size_t *length)
{
    struct file *file = find_name(name);

    if (!file)
        return 0;
    *bytes = bytes_of(file);
    *length = file->length;
    return 1;
}

int disk_entry(unsigned i, const char **name, const void **bytes, size_t *length, int *read_only)
{
    const struct file *file = DISK->files + i;

    if (i >= DISK->slots || file->state != FILE_NAMED)
        return 0;
    if (name)
        *name = file->name;
    if (bytes)
        *bytes = bytes_of(file);
    if (length)
        *length = file->length;
    if (read_only)
        *read_only = file->read_only;
    return 1;
}
