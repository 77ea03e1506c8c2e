/* The library's own prototypes. `struct stream` is what the game calls FILE; the
 * game only ever holds pointers to it. */
#ifndef LIBC_H
#define LIBC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

struct stream;

/* Gives a second name to a function of the same file. */
#define LIBC_TEXT(name) #name
#define LIBC_NAME(name) LIBC_TEXT(name)
#define ALIAS_OF(name) __attribute__((alias(LIBC_NAME(name))))

/* string.c */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *bytes, int byte, size_t n);
size_t strlen(const char *text);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
char *strstr(const char *text, const char *part);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strcpy(char *restrict to, const char *restrict from);
char *stpcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t n);
char *strcat(char *restrict to, const char *restrict from);
char *strncat(char *restrict to, const char *restrict from, size_t n);

/* number.c */
long strtol(const char *restrict text, char **restrict end, int base);
unsigned long strtoul(const char *restrict text, char **restrict end, int base);
long __isoc23_strtol(const char *restrict text, char **restrict end, int base);
unsigned long __isoc23_strtoul(const char *restrict text, char **restrict end, int base);
int atoi(const char *text);
long atol(const char *text);

/* ctype.c */
const unsigned short **__ctype_b_loc(void);

/* format.c and print.c */
int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list arguments);
int snprintf(char *restrict to, size_t size, const char *restrict format, ...);
int vsprintf(char *restrict to, const char *restrict format, va_list arguments);
int sprintf(char *restrict to, const char *restrict format, ...);
int vfprintf(struct stream *restrict stream, const char *restrict format, va_list arguments);
int fprintf(struct stream *restrict stream, const char *restrict format, ...);
int printf(const char *restrict format, ...);

/* scan.c */
int sscanf(const char *restrict text, const char *restrict format, ...);
int __isoc99_sscanf(const char *restrict text, const char *restrict format, ...);
int __isoc23_sscanf(const char *restrict text, const char *restrict format, ...);
int fscanf(struct stream *restrict stream, const char *restrict format, ...);
int __isoc99_fscanf(struct stream *restrict stream, const char *restrict format, ...);
int __isoc23_fscanf(struct stream *restrict stream, const char *restrict format, ...);

/* sort.c */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));

/* clock.c */
int64_t time(int64_t *now);
struct abi_tm *localtime(const int64_t *seconds);
int64_t mktime(struct abi_tm *date);

/* heap.c */
void *malloc(size_t n);
void *calloc(size_t count, size_t size);
void *realloc(void *payload, size_t n);
void free(void *payload);

/* descriptor.c and disk.c */
int open(const char *path, int flags, ...);
int creat(const char *path, unsigned mode);
int close(int fd);
int64_t read(int fd, void *to, size_t n);
int64_t write(int fd, const void *from, size_t n);
int64_t lseek(int fd, int64_t offset, int whence);
int fcntl(int fd, int command, ...);
int access(const char *path, int mode);
int stat(const char *path, struct abi_stat *status);
int unlink(const char *path);
int rename(const char *from, const char *to);

/* stream.c */
extern struct stream *stdin, *stdout, *stderr;
struct stream *fopen(const char *restrict path, const char *restrict mode);
struct stream *fdopen(int fd, const char *mode);
int fclose(struct stream *stream);
int fileno(struct stream *stream);
int fflush(struct stream *stream);
void setbuf(struct stream *restrict stream, char *restrict buffer);
void clearerr(struct stream *stream);
int fgetc(struct stream *stream);
int getc(struct stream *stream);
int getchar(void);
char *fgets(char *restrict to, int size, struct stream *restrict stream);
size_t fread(void *restrict to, size_t size, size_t count, struct stream *restrict stream);
size_t fwrite(const void *restrict from, size_t size, size_t count, struct stream *restrict stream);
int fputc(int c, struct stream *stream);
int putc(int c, struct stream *stream);
int putchar(int c);
int fputs(const char *restrict text, struct stream *restrict stream);
int puts(const char *text);
int fseek(struct stream *stream, long offset, int whence);
long ftell(struct stream *stream);
void rewind(struct stream *stream);

/* error.c */
int *__errno_location(void);
char *strerror(int number);
void perror(const char *subject);
int error_set(int number); /* sets errno, returns -1 */

/* environment.c */
char *getenv(const char *name);
char *getcwd(char *to, size_t size);
unsigned getuid(void);
void *getpwuid(unsigned user);
void *signal(int number, void *handler);
unsigned sleep(unsigned seconds);

/* exit.c */
_Noreturn void exit(int status);
_Noreturn void abort(void);

#endif
