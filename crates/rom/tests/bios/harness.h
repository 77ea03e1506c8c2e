/* What every suite of the library's host test uses. The library is compiled with
 * each of its public names prefixed by lab_, so that it sits beside glibc. */
#ifndef HARNESS_H
#define HARNESS_H

#include "prefix.h"
/* Between the two: the library's own prototypes under their prefixed names. */
#include "libc.h"
#include "unprefix.h"

#include "bios.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks: the first that fails ends the run and names the seed ---- */

_Noreturn void failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define CHECK(condition, ...)                                                                        \
    do {                                                                                             \
        if (!(condition))                                                                            \
            failed(__FILE__, __LINE__, __VA_ARGS__);                                                 \
    } while (0)

/* ---- randomness: a function of the seed and the suite ---- */

uint64_t random_word(void);
unsigned below(unsigned n);         /* 0..n-1 */
int between(int low, int high);     /* both included */
void random_bytes(void *to, size_t n);
uint64_t random_magnitude(void);    /* all sizes of numbers alike */

/* ---- the machine's stops, caught ---- */

extern jmp_buf *stop_catcher;
extern int stopped_for; /* enum yield_reason of the last stop */

#define STOPS_FOR(reason, statement)                                                                 \
    do {                                                                                             \
        jmp_buf stopped_here;                                                                        \
        stop_catcher = &stopped_here;                                                                \
        if (!setjmp(stopped_here)) {                                                                 \
            statement;                                                                               \
            failed(__FILE__, __LINE__, "goes on after %s", #statement);                              \
        }                                                                                            \
        stop_catcher = NULL;                                                                         \
        CHECK(stopped_for == (reason), "stopped for %d: %s", stopped_for, mailbox.fault);            \
    } while (0)

/* The statement must stop the machine with a diagnosis that contains the text. */
#define FAULTS(text, statement)                                                                      \
    do {                                                                                             \
        STOPS_FOR(YIELD_FAULT, statement);                                                           \
        CHECK(strstr(mailbox.fault, text), "fault \"%s\" lacks \"%s\"", mailbox.fault, text);        \
    } while (0)

/* ---- the terminal ---- */

void keys_are(const char *keys);
const char *terminal_text(void); /* all output since the last call */

/* ---- memory with a fence at both ends ---- */

#define ARENA_BYTES 8192
unsigned char *fenced_arena(void);

#define lab_errno (*lab___errno_location())

/* ---- suites ---- */

void suite_string(void);
void suite_number(void);
void suite_ctype(void);
void suite_format(void);
void suite_scan(void);
void suite_sort(void);
void suite_clock(void);
void suite_heap(void);
void suite_disk(void);
void suite_stream(void);
void suite_process(void);

#endif
