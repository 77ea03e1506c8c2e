/* Holds the library's idea of its callers' world against the real headers. Nothing
 * runs: it compiles or it doesn't. */
#define _GNU_SOURCE
#include "abi.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours)

SAME(ABI_ENOENT, ENOENT);
SAME(ABI_EBADF, EBADF);
SAME(ABI_EACCES, EACCES);
SAME(ABI_EEXIST, EEXIST);
SAME(ABI_EINVAL, EINVAL);
SAME(ABI_ESPIPE, ESPIPE);
SAME(ABI_EROFS, EROFS);
SAME(ABI_ERANGE, ERANGE);
SAME(ABI_ENAMETOOLONG, ENAMETOOLONG);
SAME(ABI_EOVERFLOW, EOVERFLOW);

SAME(ABI_O_RDONLY, O_RDONLY);
SAME(ABI_O_WRONLY, O_WRONLY);
SAME(ABI_O_RDWR, O_RDWR);
SAME(ABI_O_ACCMODE, O_ACCMODE);
SAME(ABI_O_CREAT, O_CREAT);
SAME(ABI_O_EXCL, O_EXCL);
SAME(ABI_O_TRUNC, O_TRUNC);
SAME(ABI_O_APPEND, O_APPEND);

SAME(ABI_SEEK_SET, SEEK_SET);
SAME(ABI_SEEK_CUR, SEEK_CUR);
SAME(ABI_SEEK_END, SEEK_END);
SAME(ABI_X_OK, X_OK);
SAME(ABI_W_OK, W_OK);
SAME(ABI_R_OK, R_OK);
SAME(ABI_F_SETLK, F_SETLK);
SAME(ABI_F_SETLKW, F_SETLKW);
SAME(ABI_S_IFREG, S_IFREG);
SAME(ABI_EOF, EOF);

#define SAME_FIELD(our_type, our_field, their_type, their_field)                                     \
    SAME(offsetof(our_type, our_field), offsetof(their_type, their_field));                          \
    SAME(sizeof((our_type){0}.our_field), sizeof((their_type){0}.their_field))

SAME(sizeof(struct abi_stat), sizeof(struct stat));
SAME_FIELD(struct abi_stat, device, struct stat, st_dev);
SAME_FIELD(struct abi_stat, inode, struct stat, st_ino);
SAME_FIELD(struct abi_stat, links, struct stat, st_nlink);
SAME_FIELD(struct abi_stat, mode, struct stat, st_mode);
SAME_FIELD(struct abi_stat, user, struct stat, st_uid);
SAME_FIELD(struct abi_stat, group, struct stat, st_gid);
SAME_FIELD(struct abi_stat, special_device, struct stat, st_rdev);
SAME_FIELD(struct abi_stat, size, struct stat, st_size);
SAME_FIELD(struct abi_stat, block_bytes, struct stat, st_blksize);
SAME_FIELD(struct abi_stat, blocks, struct stat, st_blocks);
SAME_FIELD(struct abi_stat, accessed, struct stat, st_atim);
SAME_FIELD(struct abi_stat, modified, struct stat, st_mtim);
SAME_FIELD(struct abi_stat, changed, struct stat, st_ctim);
SAME_FIELD(struct abi_timespec, seconds, struct timespec, tv_sec);
SAME_FIELD(struct abi_timespec, nanoseconds, struct timespec, tv_nsec);

SAME(sizeof(struct abi_tm), sizeof(struct tm));
SAME_FIELD(struct abi_tm, second, struct tm, tm_sec);
SAME_FIELD(struct abi_tm, minute, struct tm, tm_min);
SAME_FIELD(struct abi_tm, hour, struct tm, tm_hour);
SAME_FIELD(struct abi_tm, day, struct tm, tm_mday);
SAME_FIELD(struct abi_tm, month, struct tm, tm_mon);
SAME_FIELD(struct abi_tm, year, struct tm, tm_year);
SAME_FIELD(struct abi_tm, weekday, struct tm, tm_wday);
SAME_FIELD(struct abi_tm, yearday, struct tm, tm_yday);
SAME_FIELD(struct abi_tm, daylight_saving, struct tm, tm_isdst);
SAME_FIELD(struct abi_tm, utc_offset, struct tm, tm_gmtoff);
SAME_FIELD(struct abi_tm, zone, struct tm, tm_zone);

SAME(sizeof(int64_t), sizeof(time_t));
SAME(sizeof(int64_t), sizeof(off_t));
SAME(sizeof(int64_t), sizeof(ssize_t));
SAME(sizeof(unsigned), sizeof(mode_t));
SAME(sizeof(unsigned), sizeof(uid_t));
