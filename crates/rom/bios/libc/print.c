/* The printf family's names, over memory and streams. */
#include <limits.h>

#include "format.h"
#include "libc.h"

int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list arguments)
{
    struct sink sink = {to, size ? size - 1 : 0, 0, NULL};
    va_list copy;

    va_copy(copy, arguments);
    format_into(&sink, format, &copy);
    va_end(copy);
    if (size)
        *sink.at = '\0';
    return (int)sink.total;
}

int vsprintf(char *restrict to, const char *restrict format, va_list arguments)
{
    return vsnprintf(to, (size_t)INT_MAX + 1, format, arguments);
}

int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return length;
}

int sprintf(char *restrict to, const char *restrict format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

#define STREAM_SINK_BYTES 512

struct stream_sink {
    struct sink sink; /* first: spill gets its address */
    struct stream *stream;
    int failed;
    char bytes[STREAM_SINK_BYTES];
};

static void spill_to_stream(struct sink *sink)
{
    struct stream_sink *to = (struct stream_sink *)sink;
    size_t n = (size_t)(sink->at - to->bytes);

    if (fwrite(to->bytes, 1, n, to->stream) != n)
        to->failed = 1;
    sink->at = to->bytes;
    sink->room = sizeof to->bytes;
}

int vfprintf(struct stream *restrict stream, const char *restrict format, va_list arguments)
{
    struct stream_sink to;
    va_list copy;

    to.sink = (struct sink){to.bytes, sizeof to.bytes, 0, spill_to_stream};
    to.stream = stream;
    to.failed = 0;
    va_copy(copy, arguments);
    format_into(&to.sink, format, &copy);
    va_end(copy);
    spill_to_stream(&to.sink);
    return to.failed ? -1 : (int)to.sink.total;
}

int fprintf(struct stream *restrict stream, const char *restrict format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vfprintf(stream, format, arguments);
    va_end(arguments);
    return length;
}

int printf(const char *restrict format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return length;
}
