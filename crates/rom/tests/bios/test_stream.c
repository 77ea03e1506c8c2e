/* stdio against glibc's over real files in a folder. */
#include "harness.h"

#include <errno.h>
#include <unistd.h>

#define BYTES_MAX 600

static struct stream *our;
static FILE *their;
static int reads, writes, last; /* what the mode allows; 'r' or 'w' came last */

static void same(const char *call, long our_result, long their_result)
{
    CHECK(our_result == their_result, "%s gives %ld, glibc's %ld", call, our_result, their_result);
}

/* Between reading and writing the language asks for a seek. */
static void turn_to(int direction)
{
    if (last != direction && reads && writes)
        same("fseek", lab_fseek(our, 0, SEEK_CUR), fseek(their, 0, SEEK_CUR));
    last = direction;
}

static void step_read(void)
{
    char our_bytes[BYTES_MAX], their_bytes[BYTES_MAX];
    size_t size = below(5), count = below(20);
    int n = between(0, 60);

    turn_to('r');
    memset(our_bytes, 0x55, sizeof our_bytes);
    memset(their_bytes, 0x55, sizeof their_bytes);
    switch (below(4)) {
    case 0:
        same("fgetc", lab_fgetc(our), fgetc(their));
        break;
    case 1:
        same("getc", lab_getc(our), getc(their));
        break;
    case 2:
        same("fgets", lab_fgets(our_bytes, n, our) == our_bytes, fgets(their_bytes, n, their) == their_bytes);
        break;
    default:
        same("fread", (long)lab_fread(our_bytes, size, count, our), (long)fread(their_bytes, size, count, their));
    }
    /* A partial item's bytes are left open by the language; glibc and ours store them. */
    CHECK(!memcmp(our_bytes, their_bytes, sizeof our_bytes), "other bytes are read");
}

static void random_line(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = below(12) ? (char)between(1, 255) : '\n';
    to[n] = '\0';
}

static void step_write(void)
{
    char text[BYTES_MAX];
    size_t size = below(5), count = below(20);
    int c = between(-1, 300);

    turn_to('w');
    random_line(text, below(8) ? below(50) : below(BYTES_MAX));
    switch (below(5)) {
    case 0:
        same("fputc", lab_fputc(c, our), fputc(c, their));
        break;
    case 1:
        same("putc", lab_putc(c, our), putc(c, their));
        break;
    case 2:
        same("fputs", lab_fputs(text, our) < 0, fputs(text, their) < 0);
        break;
    case 3:
        same("fprintf", lab_fprintf(our, "%s %d\n", text, c), fprintf(their, "%s %d\n", text, c));
        break;
    default:
        same("fwrite", (long)lab_fwrite(text, size, count, our), (long)fwrite(text, size, count, their));
    }
}

static void step_place(void)
{
    int whence = (int)below(3);
    long offset = between(-100, 300);

    switch (below(5)) {
    case 0:
        same("fseek", lab_fseek(our, offset, whence), fseek(their, offset, whence));
        break;
    case 1:
        lab_rewind(our);
        rewind(their);
        break;
    case 2:
        same("fflush", lab_fflush(our), fflush(their));
        break;
    case 3:
        lab_clearerr(our);
        clearerr(their);
        break;
    default:
        same("ftell", lab_ftell(our), ftell(their));
    }
}

static void play_file(void)
{
    static const char *const modes[] = {"r", "rb", "w", "wb", "a", "r+", "rb+", "w+", "a+", "ab"};
    const char *name = below(2) ? "x" : "y", *mode = modes[below(10)];

    lab_errno = errno = 0;
    our = lab_fopen(name, mode);
    their = fopen(name, mode);
    CHECK(!our == !their && (our || lab_errno == errno), "fopen %s %s", name, mode);
    if (!our)
        return;
    reads = *mode == 'r' || strchr(mode, '+');
    writes = *mode != 'r' || strchr(mode, '+');
    last = 0;
    for (unsigned n = below(30); n; n--) {
        unsigned kind = below(5);
        if (kind < 2)
            step_read();
        else if (kind < 4)
            step_write();
        else
            step_place();
    }
    same("fclose", lab_fclose(our), fclose(their));
}

static void compare_file(const char *name)
{
    static char text[1 << 20];
    FILE *file = fopen(name, "r");
    const void *bytes;
    size_t length;

    if (!file) {
        CHECK(!disk_file(name, &bytes, &length), "%s should not be there", name);
        return;
    }
    CHECK(disk_file(name, &bytes, &length) && length == fread(text, 1, sizeof text, file) && !memcmp(text,
          bytes, length), "%s has other bytes", name);
    fclose(file);
    if (length > 5000)
        CHECK(!lab_unlink(name) && !unlink(name), "unlink of %s", name);
}

/* A stream that met the end stays there though another one makes the file longer,
 * whichever call met it, until the mark is cleared. */
static void compare_at_end(int by_line)
{
    struct stream *our_writer = lab_fopen("e", "a");
    FILE *their_writer = fopen("e", "a");
    char text[16];

    our = lab_fopen("e", "r");
    their = fopen("e", "r");
    lab_fputs("ab", our_writer);
    fputs("ab", their_writer);
    fflush(their_writer);
    for (int i = 0; i < 3 && !by_line; i++)
        same("fgetc", lab_fgetc(our), fgetc(their));
    if (by_line)
        same("fgets", lab_fgets(text, sizeof text, our) == text, fgets(text, sizeof text, their) == text);
    lab_fputs("cd", our_writer);
    fputs("cd", their_writer);
    fflush(their_writer);
    same("fgetc at the end", lab_fgetc(our), fgetc(their));
    lab_clearerr(our);
    clearerr(their);
    same("fgetc after clearerr", lab_fgetc(our), fgetc(their));
    lab_fclose(our_writer);
    fclose(their_writer);
    lab_fclose(our);
    fclose(their);
    CHECK(!unlink("e") && !lab_unlink("e"), "unlink");
}

static void check_against_glibc(void)
{
    char folder[] = "stream-XXXXXX";

    CHECK(mkdtemp(folder) && !chdir(folder), "no folder to test in");
    for (int i = 0; i < 4000; i++) {
        play_file();
        compare_file("x");
        compare_file("y");
    }
    compare_at_end(0);
    compare_at_end(1);
    unlink("x");
    unlink("y");
    CHECK(!chdir("..") && !rmdir(folder), "files are left in the folder");
}

/* ---- what a file can't show ---- */

static void check_descriptors(void)
{
    int fd = lab_open("f", ABI_O_RDWR | ABI_O_CREAT);
    struct stream *stream = lab_fdopen(fd, "r+");
    char text[8];

    CHECK(lab_fileno(stream) == fd && lab_fputs("ab\ncd", stream) > 0 && lab_lseek(fd, 1, 0) == 1, "fdopen");
    CHECK(lab_fgets(text, 8, stream) == text && !strcmp(text, "b\n"), "the position is shared");
    lab_fclose(stream);
    CHECK(lab_close(fd) == -1 && lab_errno == EBADF, "fclose closes the descriptor");
    CHECK(!lab_fdopen(fd, "r") && lab_errno == EBADF, "fdopen of a closed descriptor");
    fd = lab_open("f", ABI_O_RDONLY);
    CHECK(!lab_fdopen(fd, "w"), "fdopen against the descriptor's mode");
    lab_close(fd);
    fd = lab_open("f", ABI_O_WRONLY);
    stream = lab_fdopen(fd, "a");
    CHECK(lab_ftell(stream) == 5 && lab_fputc('!', stream) == '!' && lab_ftell(stream) == 6, "fdopen to append");
    lab_fclose(stream);
}

static void check_terminal(void)
{
    char text[16];

    keys_are("k\xffline\nrest");
    CHECK(lab_getc(lab_stdin) == 'k' && lab_getchar() == 0xff, "keys");
    CHECK(lab_fgets(text, 16, lab_stdin) == text && !strcmp(text, "line\n"), "a line of keys");
    CHECK(lab_fgets(text, 3, lab_stdin) == text && !strcmp(text, "re"), "a short line of keys");
    CHECK(lab_putc('a', lab_stdout) == 'a' && lab_putchar(0x1ff) == 0xff && lab_fputc('b', lab_stderr) == 'b', "bytes");
    CHECK(lab_puts("line") >= 0 && lab_fputs("text", lab_stdout) >= 0 && lab_fwrite("xyz", 1, 3,
          lab_stdout) == 3, "text");
    CHECK(!strcmp(terminal_text(), "a\xff" "bline\ntextxyz"), "what is shown");
    lab_setbuf(lab_stdout, NULL);
    CHECK(!lab_fflush(lab_stdout) && !lab_fflush(NULL) && lab_fileno(lab_stdin) == 0
          && lab_fileno(lab_stderr) == 2, "the standard streams");
    CHECK(lab_ftell(lab_stderr) == -1 && lab_errno == ESPIPE && lab_fseek(lab_stdin, 0, 0) == -1, "their position");
    FAULTS("fread", lab_fread(text, 1, 1, lab_stdin));
    FAULTS("output", lab_fgetc(lab_stdout));
    FAULTS("output", lab_fgets(text, 4, lab_stderr));
}

static void check_mode(const char *mode)
{
    FAULTS("mode", lab_fopen("f", mode));
}

static void check_misuse(void)
{
    static const char *const modes[] = {"", "x", "rw", "r,ccs=utf8", "re", "wx", "rt"};
    struct stream *volatile stream = lab_fopen("f", "w");

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        check_mode(modes[i]);
    lab_fclose(stream);
    FAULTS("fclose", lab_fclose(stream));
    FAULTS("fgetc", lab_fgetc(stream));
    FAULTS("fwrite", lab_fwrite("", 1, 1, stream));
    FAULTS("not open", lab_fprintf(stream, "x"));
    FAULTS("fseek", lab_fseek(NULL, 0, 0));
    FAULTS("fwrite", lab_fwrite("", SIZE_MAX / 2, 3, lab_stdout));
}

void suite_stream(void)
{
    check_against_glibc();
    check_descriptors();
    check_terminal();
    check_misuse();
}
