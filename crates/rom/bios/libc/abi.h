/* What NetHack's objects take for granted from the headers they are compiled
 * against: glibc's on x86-64. Own names, so that a test can hold each value and
 * layout against the real headers. */
#ifndef ABI_H
#define ABI_H

#include <stdint.h>

enum {
    ABI_ENOENT = 2,
    ABI_EBADF = 9,
    ABI_EACCES = 13,
    ABI_EEXIST = 17,
    ABI_EINVAL = 22,
    ABI_ESPIPE = 29,
    ABI_EROFS = 30,
    ABI_ERANGE = 34,
    ABI_ENAMETOOLONG = 36,
    ABI_EOVERFLOW = 75
};

enum {
    ABI_O_RDONLY = 0,
    ABI_O_WRONLY = 1,
    ABI_O_RDWR = 2,
    ABI_O_ACCMODE = 3,
    ABI_O_CREAT = 0100,
    ABI_O_EXCL = 0200,
    ABI_O_TRUNC = 01000,
    ABI_O_APPEND = 02000
};

enum { ABI_SEEK_SET = 0, ABI_SEEK_CUR = 1, ABI_SEEK_END = 2 };
enum { ABI_X_OK = 1, ABI_W_OK = 2, ABI_R_OK = 4 };
enum { ABI_F_SETLK = 6, ABI_F_SETLKW = 7 };
enum { ABI_S_IFREG = 0100000 };
enum { ABI_EOF = -1 };

struct abi_timespec {
    int64_t seconds, nanoseconds;
};

struct abi_stat {
    uint64_t device, inode, links;
    uint32_t mode, user, group, padding;
    uint64_t special_device;
    int64_t size, block_bytes, blocks;
    struct abi_timespec accessed, modified, changed;
    int64_t reserved[3];
};

struct abi_tm {
    int second, minute, hour; /* 0..60, 0..59, 0..23 */
    int day, month, year;     /* 1..31, 0..11, years since 1900 */
    int weekday, yearday;     /* 0 = Sunday, 0 = 1 January */
    int daylight_saving;
    int64_t utc_offset;
    const char *zone;
};

#endif
