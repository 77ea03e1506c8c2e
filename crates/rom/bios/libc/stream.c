/* stdio. A stream adds its end and error marks to a descriptor and holds nothing
 * back: files are memory, so a buffer would only be a second copy. */
#include "bios.h"
#include "descriptor.h"
#include "libc.h"

#define STREAMS 32

struct stream {
    int fd;
    unsigned char open, at_end, failed;
};

static struct stream streams[STREAMS] = {
    {.fd = 0, .open = 1},
    {.fd = 1, .open = 1},
    {.fd = 2, .open = 1},
};

struct stream *stdin = &streams[0], *stdout = &streams[1], *stderr = &streams[2];

/* Using a closed stream has no defined result. */
static void check(const struct stream *stream, const char *call)
{
    if (!stream || !stream->open)
        bios_fault("%s: the stream is not open", call);
}

/* ---- opening and closing ---- */

/* The flags for open, or a fault for a mode that isn't r, w or a with + and b. */
static int flags_of(const char *mode)
{
    int flags, update = 0;

    for (const char *at = mode + (*mode != '\0'); *at; at++) {
        if (*at == '+')
            update = 1;
        else if (*at != 'b')
            bios_fault("fopen: unsupported mode %s", mode);
    }
    if (*mode == 'r')
        return update ? ABI_O_RDWR : ABI_O_RDONLY;
    flags = ABI_O_CREAT | (update ? ABI_O_RDWR : ABI_O_WRONLY);
    if (*mode == 'w')
        return flags | ABI_O_TRUNC;
    if (*mode == 'a')
        return flags | ABI_O_APPEND;
    bios_fault("fopen: unsupported mode %s", mode);
}

static struct stream *stream_for(int fd)
{
    for (struct stream *stream = streams; stream < streams + STREAMS; stream++) {
        if (!stream->open) {
            *stream = (struct stream){.fd = fd, .open = 1};
            return stream;
        }
    }
    bios_fault("fopen: more than %d streams", STREAMS);
}

/* A stream that only appends starts at the end, also as ftell tells it. */
static void start_at_end(int fd, int flags)
{
    if (flags & ABI_O_APPEND && (flags & ABI_O_ACCMODE) == ABI_O_WRONLY)
        lseek(fd, 0, ABI_SEEK_END);
}

struct stream *fopen(const char *restrict path, const char *restrict mode)
{
    int flags = flags_of(mode);
    int fd = open(path, flags, 0666);

    if (fd < 0)
        return NULL;
    start_at_end(fd, flags);
    return stream_for(fd);
}

struct stream *fdopen(int fd, const char *mode)
{
    int flags = flags_of(mode);
    int writes = (flags & ABI_O_ACCMODE) != ABI_O_RDONLY;
    int reads = (flags & ABI_O_ACCMODE) != ABI_O_WRONLY;

    if ((reads && !descriptor_allows(fd, ABI_O_RDONLY)) || (writes && !descriptor_allows(fd, ABI_O_WRONLY)))
        return NULL;
    if (flags & ABI_O_APPEND)
        descriptor_append(fd);
    start_at_end(fd, flags);
    return stream_for(fd);
}

int fclose(struct stream *stream)
{
    check(stream, "fclose");
    stream->open = 0;
    return close(stream->fd);
}

int fileno(struct stream *stream)
{
    check(stream, "fileno");
    return stream->fd;
}

int fflush(struct stream *stream)
{
    if (stream)
        check(stream, "fflush");
    return 0;
}

void setbuf(struct stream *restrict stream, char *restrict buffer)
{
    (void)buffer;
    check(stream, "setbuf");
}

void clearerr(struct stream *stream)
{
    check(stream, "clearerr");
    stream->at_end = stream->failed = 0;
}

/* ---- reading ---- */

static int fail(struct stream *stream)
{
    stream->failed = 1;
    return ABI_EOF;
}

static int end(struct stream *stream)
{
    stream->at_end = 1;
    return ABI_EOF;
}

/* What lies ahead in a file; empty once the end was met, as glibc has it, and null
 * when the stream can't be read. */
static const char *ahead(struct stream *stream, size_t *n)
{
    if (!descriptor_allows(stream->fd, ABI_O_RDONLY)) {
        fail(stream);
        return NULL;
    }
    if (stream->at_end) {
        *n = 0;
        return "";
    }
    return descriptor_ahead(stream->fd, n);
}

int fgetc(struct stream *stream)
{
    const char *from;
    size_t n;

    check(stream, "fgetc");
    if (stream == stdin)
        return bios_getkey();
    if (descriptor_is_terminal(stream->fd))
        bios_fault("fgetc: the stream is for output");
    from = ahead(stream, &n);
    if (!from)
        return ABI_EOF;
    if (!n)
        return end(stream);
    descriptor_skip(stream->fd, 1);
    return (unsigned char)*from;
}

int getc(struct stream *stream)
{
    return fgetc(stream);
}

int getchar(void)
{
    return fgetc(stdin);
}

static char *fgets_keys(char *to, int size)
{
    int i = 0;

    while (i < size - 1) {
        to[i] = (char)bios_getkey();
        if (to[i++] == '\n')
            break;
    }
    to[i] = '\0';
    return to;
}

char *fgets(char *restrict to, int size, struct stream *restrict stream)
{
    const char *from, *newline;
    size_t n;

    check(stream, "fgets");
    if (size <= 0)
        return NULL;
    if (stream == stdin)
        return fgets_keys(to, size);
    if (descriptor_is_terminal(stream->fd))
        bios_fault("fgets: the stream is for output");
    if (size == 1) {
        *to = '\0';
        return to;
    }
    from = ahead(stream, &n);
    if (!from)
        return NULL;
    newline = memchr(from, '\n', n < (size_t)size ? n : (size_t)size - 1);
    if (newline)
        n = (size_t)(newline - from) + 1;
    else if (n >= (size_t)size - 1)
        n = (size_t)size - 1;
    else
        end(stream);
    if (!n)
        return NULL;
    memcpy(to, from, n);
    to[n] = '\0';
    descriptor_skip(stream->fd, n);
    return to;
}

size_t fread(void *restrict to, size_t size, size_t count, struct stream *restrict stream)
{
    const char *from;
    size_t n, available;

    check(stream, "fread");
    if (__builtin_mul_overflow(size, count, &n) || descriptor_is_terminal(stream->fd))
        bios_fault("fread: %zu items of %zu bytes from descriptor %d", count, size, stream->fd);
    if (!n)
        return 0;
    from = ahead(stream, &available);
    if (!from)
        return 0;
    if (n > available) {
        n = available;
        end(stream);
    }
    memcpy(to, from, n);
    descriptor_skip(stream->fd, n);
    return n / size;
}

/* ---- writing ---- */

static int put_bytes(struct stream *stream, const void *from, size_t n)
{
    return n && write(stream->fd, from, n) < 0 ? fail(stream) : 0;
}

size_t fwrite(const void *restrict from, size_t size, size_t count, struct stream *restrict stream)
{
    size_t n;

    check(stream, "fwrite");
    if (__builtin_mul_overflow(size, count, &n))
        bios_fault("fwrite: %zu items of %zu bytes", count, size);
    if (!n)
        return 0;
    return put_bytes(stream, from, n) ? 0 : count;
}

int fputc(int c, struct stream *stream)
{
    unsigned char byte = (unsigned char)c;

    check(stream, "fputc");
    if (stream == stdout) {
        terminal_put(byte);
        return byte;
    }
    return put_bytes(stream, &byte, 1) ? ABI_EOF : byte;
}

int putc(int c, struct stream *stream)
{
    return fputc(c, stream);
}

int putchar(int c)
{
    return fputc(c, stdout);
}

int fputs(const char *restrict text, struct stream *restrict stream)
{
    check(stream, "fputs");
    return put_bytes(stream, text, strlen(text)) ? ABI_EOF : 1;
}

int puts(const char *text)
{
    fputs(text, stdout);
    return fputc('\n', stdout);
}

/* ---- positions ---- */

int fseek(struct stream *stream, long offset, int whence)
{
    check(stream, "fseek");
    if (lseek(stream->fd, offset, whence) < 0)
        return -1;
    stream->at_end = 0;
    return 0;
}

long ftell(struct stream *stream)
{
    check(stream, "ftell");
    return lseek(stream->fd, 0, ABI_SEEK_CUR);
}

void rewind(struct stream *stream)
{
    fseek(stream, 0, ABI_SEEK_SET);
    stream->failed = 0;
}
