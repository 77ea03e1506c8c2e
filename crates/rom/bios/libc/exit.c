/* The ends of a game: by its own will, or because the library gives up. */
#include "bios.h"
#include "libc.h"

/* A game that has ended stays ended: whoever resumes it gets the same answer. */
static _Noreturn void stop(int reason)
{
    for (;;)
        bios_yield(reason);
}

_Noreturn void exit(int status)
{
    mailbox.exit_status = status;
    stop(YIELD_EXIT);
}

/* The status that a shell reports for a process ended by SIGABRT. */
_Noreturn void abort(void)
{
    exit(128 + 6);
}

_Noreturn void bios_fault(const char *what, ...)
{
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(mailbox.fault, sizeof mailbox.fault, what, arguments);
    va_end(arguments);
    stop(YIELD_FAULT);
}
