/* Runs one suite: harness SUITE SEED, in a folder it may write to. */
#include "harness.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

struct mailbox mailbox;
jmp_buf *stop_catcher;
int stopped_for;

static const char *suite_name;
static uint64_t seed, random_state;

_Noreturn void failed(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s:%d: suite %s, seed %llu: ", file, line, suite_name, (unsigned long long)seed);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

uint64_t random_word(void)
{
    uint64_t word = random_state += 0x9e3779b97f4a7c15u;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

unsigned below(unsigned n)
{
    return (unsigned)(random_word() % n);
}

int between(int low, int high)
{
    return low + (int)below((unsigned)(high - low) + 1);
}

void random_bytes(void *to, size_t n)
{
    unsigned char *bytes = to;

    while (n--)
        *bytes++ = (unsigned char)random_word();
}

uint64_t random_magnitude(void)
{
    uint64_t value = random_word() >> below(64);

    return below(8) ? value : value & -value;
}

/* ---- the port's side ---- */

int bios_yield(int reason)
{
    stopped_for = reason;
    if (!stop_catcher)
        failed(__FILE__, __LINE__, "unexpected stop for %d: %s", reason, mailbox.fault);
    longjmp(*stop_catcher, 1);
}

static const char *keys = "";

void keys_are(const char *typed)
{
    keys = typed;
}

int bios_getkey(void)
{
    if (!*keys)
        failed(__FILE__, __LINE__, "a key is asked for that nobody types");
    return (unsigned char)*keys++;
}

static char terminal[4096];
static size_t terminal_length;

void terminal_put(int c)
{
    CHECK(terminal_length < sizeof terminal - 1, "too much output");
    terminal[terminal_length++] = (char)c;
    terminal[terminal_length] = '\0';
}

const char *terminal_text(void)
{
    terminal_length = 0;
    return terminal;
}

/* ---- memory ---- */

static void map_at(uint64_t base, size_t bytes)
{
    void *at = mmap((void *)base, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    CHECK(at == (void *)base, "the region at %#llx can't be mapped", (unsigned long long)base);
}

unsigned char *fenced_arena(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *at = mmap(NULL, ARENA_BYTES + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED, "no arena");
    CHECK(!mprotect(at + page, ARENA_BYTES, PROT_READ | PROT_WRITE), "no arena");
    return at + page;
}

static const struct {
    const char *name;
    void (*run)(void);
} suites[] = {
    {"string", suite_string}, {"number", suite_number}, {"ctype", suite_ctype},
    {"format", suite_format}, {"scan", suite_scan},     {"sort", suite_sort},
    {"clock", suite_clock},   {"heap", suite_heap},     {"disk", suite_disk},
    {"stream", suite_stream}, {"process", suite_process},
};

int main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "usage: harness SUITE SEED\n");
        return 2;
    }
    suite_name = words[1];
    seed = random_state = strtoull(words[2], NULL, 10);
    map_at(HEAP_BASE, HEAP_BYTES);
    map_at(DISK_BASE, DISK_BYTES);
    heap_power_on();
    disk_power_on();
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        if (!strcmp(suites[i].name, suite_name)) {
            suites[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no suite %s\n", suite_name);
    return 2;
}
