/* errno and its texts. */
#include "libc.h"

static int error_number;

int *__errno_location(void)
{
    return &error_number;
}

int error_set(int number)
{
    error_number = number;
    return -1;
}

/* The errors that this library sets, in glibc's words. */
static const struct {
    int number;
    const char *text;
} texts[] = {
    {0, "Success"},
    {ABI_ENOENT, "No such file or directory"},
    {ABI_EBADF, "Bad file descriptor"},
    {ABI_EACCES, "Permission denied"},
    {ABI_EEXIST, "File exists"},
    {ABI_EINVAL, "Invalid argument"},
    {ABI_ESPIPE, "Illegal seek"},
    {ABI_EROFS, "Read-only file system"},
    {ABI_ERANGE, "Numerical result out of range"},
    {ABI_ENAMETOOLONG, "File name too long"},
    {ABI_EOVERFLOW, "Value too large for defined data type"},
};

char *strerror(int number)
{
    static char unknown[32];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].number == number)
            return (char *)texts[i].text;
    snprintf(unknown, sizeof unknown, "Unknown error %d", number);
    return unknown;
}

void perror(const char *subject)
{
    const char *text = strerror(error_number);

    if (subject && *subject)
        fprintf(stderr, "%s: %s\n", subject, text);
    else
        fprintf(stderr, "%s\n", text);
}
