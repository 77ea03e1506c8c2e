/* The file system against the kernel's: the same calls in a real folder must give the
 * same results, errors and bytes. */
#define _GNU_SOURCE
#include "harness.h"

#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MAX 8
#define BYTES_MAX 3000

static struct {
    int ours, theirs; /* descriptors; theirs is -1 when closed */
} open_files[OPEN_MAX];

static const char *const names[] = {"a", "b", "./c", "level.1",
    "a name of sixty-three bytes, the longest that fits in our table"};

static const char *random_name(void)
{
    return names[below(sizeof names / sizeof *names)];
}

static void same(const char *call, const char *name, int64_t our, int64_t their)
{
    CHECK(our == their, "%s %s gives %lld, the kernel's %lld", call, name, (long long)our, (long long)their);
    CHECK(our >= 0 || lab_errno == errno, "%s %s sets errno %d, the kernel's %d", call, name, lab_errno, errno);
}

static void step_open(unsigned slot)
{
    const char *name = random_name();
    int flags = (int)below(3);

    for (unsigned i = 0; i < 4; i++)
        if (!below(3))
            flags |= (int[]){O_CREAT, O_EXCL, O_TRUNC, O_APPEND}[i];
    /* Without O_CREAT the kernel leaves O_EXCL without a meaning. */
    if (!(flags & O_CREAT))
        flags &= ~O_EXCL;
    if (below(4)) {
        open_files[slot].ours = lab_open(name, flags, 0666);
        open_files[slot].theirs = open(name, flags, 0666);
    } else {
        open_files[slot].ours = lab_creat(name, 0666);
        open_files[slot].theirs = creat(name, 0666);
    }
    same("open", name, open_files[slot].ours < 0 ? -1 : 0, open_files[slot].theirs < 0 ? -1 : 0);
}

static void step_write(unsigned slot)
{
    unsigned char bytes[BYTES_MAX];
    size_t n = below(8) ? below(200) : below(BYTES_MAX);

    random_bytes(bytes, n);
    same("write", "", lab_write(open_files[slot].ours, bytes, n), write(open_files[slot].theirs, bytes, n));
}

static void step_read(unsigned slot)
{
    unsigned char our[BYTES_MAX], their[BYTES_MAX];
    size_t n = below(BYTES_MAX);

    memset(our, 0x55, sizeof our);
    memset(their, 0x55, sizeof their);
    same("read", "", lab_read(open_files[slot].ours, our, n), read(open_files[slot].theirs, their, n));
    CHECK(!memcmp(our, their, sizeof our), "read gives other bytes");
}

static void step_seek(unsigned slot)
{
    int whence = (int)below(4);
    int64_t offset = below(4) ? between(-500, 3000) : between(-20000, 20000);

    /* The kernel knows a fourth whence, for holes. */
    if (whence == 3)
        whence = 77;
    same("lseek", "", lab_lseek(open_files[slot].ours, offset, whence), lseek(open_files[slot].theirs, offset, whence));
}

static void step_by_name(void)
{
    const char *name = random_name(), *other = random_name();
    struct stat our, their;
    int result, mode = (int)below(9);

    switch (below(4)) {
    case 0:
        same("unlink", name, lab_unlink(name), unlink(name));
        break;
    case 1:
        same("rename", name, lab_rename(name, other), rename(name, other));
        break;
    case 2:
        /* Who runs this may write and read everything; nobody executes it. */
        same("access", name, lab_access(name, mode), access(name, mode));
        break;
    default:
        result = lab_stat(name, (struct abi_stat *)&our);
        same("stat", name, result, stat(name, &their));
        CHECK(result || (our.st_size == their.st_size && S_ISREG(our.st_mode)),
              "stat of %s gives %ld bytes, the kernel's %ld", name, (long)our.st_size, (long)their.st_size);
    }
}

static void step(void)
{
    unsigned slot = below(OPEN_MAX);

    if (!below(6)) {
        step_by_name();
        return;
    }
    if (open_files[slot].theirs < 0) {
        if (!below(30))
            same("read", "of a closed one", lab_read(29, NULL, 0), read(999, NULL, 0));
        step_open(slot);
        return;
    }
    switch (below(10)) {
    case 0:
        same("close", "", lab_close(open_files[slot].ours), close(open_files[slot].theirs));
        open_files[slot].theirs = -1;
        break;
    case 1:
    case 2:
        step_seek(slot);
        break;
    case 3:
    case 4:
    case 5:
        step_read(slot);
        break;
    default:
        step_write(slot);
    }
}

/* Each of our files is in the folder with the same bytes; closes all that is open. */
static void compare_contents(void)
{
    for (unsigned slot = 0; slot < OPEN_MAX; slot++) {
        if (open_files[slot].theirs >= 0) {
            lab_close(open_files[slot].ours);
            close(open_files[slot].theirs);
            open_files[slot].theirs = -1;
        }
    }
    for (unsigned i = 0; i < DISK_FILES_MAX; i++) {
        const char *name;
        const void *bytes;
        size_t length;
        struct stat status;
        if (!disk_entry(i, &name, &bytes, &length, NULL))
            continue;
        int fd = open(name, O_RDONLY);
        CHECK(fd >= 0 && !fstat(fd, &status) && (size_t)status.st_size == length, "%s has %zu bytes", name, length);
        char *their = malloc(length + 1);
        CHECK(read(fd, their, length) == (ssize_t)length && !memcmp(their, bytes, length), "%s has other bytes", name);
        free(their);
        close(fd);
        CHECK(!unlink(name) && !lab_unlink(name), "unlink of slot %u", i);
    }
}

static void check_against_kernel(void)
{
    char folder[] = "disk-XXXXXX";

    CHECK(mkdtemp(folder) && !chdir(folder), "no folder to test in");
    for (unsigned slot = 0; slot < OPEN_MAX; slot++)
        open_files[slot].theirs = -1;
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 500; i++)
            step();
        compare_contents();
    }
    CHECK(!chdir("..") && !rmdir(folder), "files are left in the folder");
}

/* ---- what the kernel can't show ---- */

static void check_names(void)
{
    const char *name = "";
    const void *bytes;
    size_t length;
    int fd = lab_creat(DISK_DIRECTORY "/sub/file", 0);
    char long_name[80];

    memset(long_name, 'n', sizeof long_name);
    CHECK(lab_write(fd, "xyz", 3) == 3 && !lab_close(fd), "a file below the directory");
    CHECK(!lab_access("sub/file", 4) && !lab_access("./sub/file", 4), "its names");
    CHECK(disk_file("sub/file", &bytes, &length) && length == 3 && !memcmp(bytes, "xyz", 3), "its bytes");
    CHECK(!disk_file("sub/none", &bytes, &length), "no file");
    CHECK(disk_entry(0, &name, NULL, NULL, NULL) && !strcmp(name, "sub/file"), "the slot's name is %s", name);
    CHECK(!disk_entry(DISK_FILES_MAX, NULL, NULL, NULL, NULL), "beyond the table");
    CHECK(!lab_unlink(DISK_DIRECTORY "/sub/file") && lab_access("sub/file", 0) < 0, "unlink by path");
    CHECK(!disk_entry(0, NULL, NULL, NULL, NULL), "an empty slot");
    long_name[64] = '\0';
    CHECK(lab_creat(long_name, 0) == -1 && lab_errno == ENAMETOOLONG, "a name of 64 bytes");
    CHECK(lab_creat("/elsewhere/x", 0) == -1 && lab_errno == ENOENT, "another directory");
    CHECK(lab_creat("", 0) == -1 && lab_errno == ENOENT, "an empty name");
    CHECK(lab_open(DISK_DIRECTORY "/", 0) == -1 && lab_errno == ENOENT, "the directory");
}

static void check_read_only(void)
{
    static const char text[] = "burnt in";
    const void *bytes;
    char read[16] = "";
    size_t length;
    int fd, read_only = 0;

    disk_add_read_only("data", text, sizeof text);
    CHECK(disk_file("data", &bytes, &length) && bytes == text && length == sizeof text, "its bytes are copied");
    CHECK(disk_entry(0, NULL, NULL, NULL, &read_only) && read_only, "its slot");
    fd = lab_open("data", O_RDONLY);
    CHECK(lab_read(fd, read, sizeof read) == sizeof text && !strcmp(read, text), "reading it");
    CHECK(lab_write(fd, "x", 1) == -1 && lab_errno == EBADF, "writing it");
    lab_close(fd);
    for (int flags = 1; flags < 3; flags++)
        CHECK(lab_open("data", flags) == -1 && lab_errno == EROFS, "opening it for writing");
    CHECK(lab_open("data", O_RDONLY | O_TRUNC) == -1 && lab_errno == EROFS, "emptying it");
    CHECK(lab_creat("data", 0) == -1 && lab_errno == EROFS, "creating it");
    CHECK(lab_unlink("data") == -1 && lab_errno == EROFS, "unlinking it");
    CHECK(lab_rename("data", "other") == -1 && lab_errno == EROFS, "renaming it");
    lab_close(lab_creat("other", 0));
    CHECK(lab_rename("other", "data") == -1 && lab_errno == EROFS, "renaming over it");
    CHECK(lab_access("data", 2) == -1 && lab_errno == EROFS && !lab_access("data", 4), "its access");
    FAULTS("twice", disk_add_read_only("data", text, 1));
    FAULTS("no file name", disk_add_read_only("", text, 1));
}

/* The old bytes of the region stand for another image that was loaded before. */
static void check_image(void)
{
    static unsigned char first[1 << 20];
    uint64_t length = 0;

    for (int round = 0; round < 2; round++) {
        memset((void *)DISK_BASE, round ? 0xee : 0x11, sizeof first);
        disk_power_on();
        for (unsigned i = 0; i < 500; i++) {
            const char *name = names[i * 7 % 5];
            int fd = lab_open(name, O_RDWR | O_CREAT);
            lab_lseek(fd, i * 37 % 3000, SEEK_SET);
            lab_write(fd, &i, sizeof i);
            lab_close(fd);
            if (i % 11 == 0)
                lab_unlink(name);
        }
        if (!round) {
            length = ((struct region *)DISK_BASE)->used;
            CHECK(length <= sizeof first, "the check's buffer is too small");
            memcpy(first, (void *)DISK_BASE, length);
        }
        CHECK(((struct region *)DISK_BASE)->used == length && !memcmp(first, (void *)DISK_BASE, length),
              "the image depends on what was there before");
    }
}

/* Bytes given back by growth and by unlink are used again in place of more. */
static void check_reuse(void)
{
    static char block[300];
    uint64_t after_first = 0;

    for (int round = 0; round < 20; round++) {
        for (int file = 0; file < 4; file++) {
            int fd = lab_creat(names[file], 0);
            for (int i = 0; i < 40 << file; i++)
                lab_write(fd, block, sizeof block);
            lab_close(fd);
        }
        for (int file = 0; file < 4; file++)
            lab_unlink(names[file]);
        if (!round)
            after_first = ((struct region *)DISK_BASE)->used;
    }
    CHECK(((struct region *)DISK_BASE)->used == after_first, "bytes given back are not used again");
    /* Four files of up to 128 KiB: of what growth left behind, the next one grew. */
    CHECK(after_first < 512 << 10, "%llu bytes are used", (unsigned long long)after_first);
}

/* ---- what a host relies on when it keeps what has changed ---- */

#define COPY_BYTES (2 << 20)

static void change_something(unsigned round)
{
    static char block[5000];
    const char *name = random_name();
    int fd = lab_open(name, O_RDWR | O_CREAT | (below(3) ? 0 : O_TRUNC));

    memset(block, (int)(round % 255) + 1, sizeof block);
    lab_lseek(fd, (int64_t)below(9000), SEEK_SET);
    lab_write(fd, block, below(sizeof block));
    lab_close(fd);
    if (!below(5))
        lab_rename(name, random_name());
    if (!below(5))
        lab_unlink(name);
}

static void check_dead_bytes(const struct disk *disk)
{
    for (const struct file *file = disk->files; file < disk->files + disk->slots; file++)
        for (uint64_t at = file->length; at < file->capacity; at++)
            CHECK(!file->bytes[at], "byte %llu beyond %s", (unsigned long long)at, file->name);
    for (unsigned class = 0; class < EXTENT_CLASSES; class++)
        for (const struct extent *extent = disk->free[class]; extent; extent = extent->next)
            for (uint64_t at = sizeof *extent; at < (uint64_t)EXTENT_BYTES_MIN << class; at++)
                CHECK(!((const unsigned char *)extent)[at], "byte %llu of an extent nobody has", (unsigned long long)at);
}

static void check_changes(void)
{
    static unsigned char copy[COPY_BYTES];
    const struct disk *before = (const void *)copy, *now = (const void *)DISK_BASE;
    unsigned kept = 0;

    for (unsigned round = 0; round < 2000; round++) {
        memcpy(copy, now, now->region.used);
        for (unsigned i = round % 7; i--;)
            change_something(round);
        CHECK(now->region.used < COPY_BYTES, "the check's buffer is too small");
        check_dead_bytes(now);
        for (unsigned slot = 0; slot < before->slots; slot++) {
            const struct file *old = before->files + slot, *new = now->files + slot;
            if (old->written != new->written || !old->capacity)
                continue;
            CHECK(old->bytes == new->bytes && old->length == new->length && old->capacity == new->capacity
                      && !strcmp(old->name, new->name)
                      && !memcmp(copy + ((uint64_t)old->bytes - DISK_BASE), new->bytes, new->length),
                  "slot %u has changed unseen", slot);
            kept++;
        }
    }
    CHECK(kept > 1000, "only %u files were left alone", kept);
}

static void write_for_ever(void)
{
    static char block[100000];
    int fd = lab_creat("big", 0);

    while (lab_write(fd, block, sizeof block) > 0)
        ;
}

static void check_limits(void)
{
    char name[16];

    CHECK(lab_fcntl(0, F_SETLK) == 0 && lab_fcntl(25, F_SETLK) == -1 && lab_errno == EBADF, "fcntl");
    FAULTS("fcntl", lab_fcntl(0, F_GETFL));
    FAULTS("flags", lab_open("x", O_RDONLY | O_NONBLOCK));
    FAULTS("flags", lab_open("x", O_ACCMODE));
    FAULTS("terminal", lab_close(0));
    CHECK(lab_close(-1) == -1 && lab_errno == EBADF && lab_close(1000) == -1, "closing what is not open");
    CHECK(lab_lseek(1, 0, SEEK_CUR) == -1 && lab_errno == ESPIPE, "seeking the terminal");
    disk_power_on();
    FAULTS("exhausted", write_for_ever());
    disk_power_on();
    FAULTS("grows", {
        int fd = lab_creat("x", 0);
        lab_lseek(fd, INT64_MAX - 1, SEEK_SET);
        lab_write(fd, "abc", 3);
    });
    disk_power_on();
    FAULTS("descriptor", for (;;) lab_creat("x", 0));
    for (int fd = 3; fd < 32; fd++)
        lab_close(fd);
    disk_power_on();
    for (int i = 0; i < DISK_FILES_MAX; i++) {
        sprintf(name, "%d", i);
        lab_close(lab_creat(name, 0));
    }
    FAULTS("files", lab_creat("one more", 0));
}

static void check_terminal(void)
{
    char key[4] = "";

    keys_are("q\xff");
    CHECK(lab_read(0, key, 4) == 1 && key[0] == 'q' && lab_read(0, key, 0) == 0, "a key");
    CHECK(lab_read(0, key, 1) == 1 && key[0] == '\xff', "a key of eight bits");
    CHECK(lab_write(1, "out", 3) == 3 && lab_write(2, "err", 3) == 3, "writing");
    CHECK(!strcmp(terminal_text(), "outerr"), "what is written");
    CHECK(lab_write(0, "x", 1) == -1 && lab_errno == EBADF && lab_read(1, key, 1) == -1, "the wrong way round");
}

void suite_disk(void)
{
    static void (*const checks[])(void) = {check_against_kernel, check_names, check_read_only, check_image,
        check_reuse, check_changes, check_terminal, check_limits};

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        disk_power_on();
        checks[i]();
    }
}
