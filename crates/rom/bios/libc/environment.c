/* The process around the game, of which there is none: fixed answers. */
#include "bios.h"
#include "libc.h"

/* The options come from the host; the terminal has one type. Nothing else is set,
 * in particular no HOME, so that no configuration file is looked for elsewhere. */
char *getenv(const char *name)
{
    static char terminal[] = "lab";

    if (!strcmp(name, "NETHACKOPTIONS"))
        return mailbox.options[0] ? mailbox.options : NULL;
    if (!strcmp(name, "TERM"))
        return terminal;
    return NULL;
}

char *getcwd(char *to, size_t size)
{
    if (!to)
        bios_fault("getcwd: a null buffer is not supported");
    if (size < sizeof DISK_DIRECTORY) {
        error_set(size ? ABI_ERANGE : ABI_EINVAL);
        return NULL;
    }
    return strcpy(to, DISK_DIRECTORY);
}

/* Appears in the names of saved games and in the record of scores. */
unsigned getuid(void)
{
    return 1000;
}

/* No user database: the game falls back to the name in its options. */
void *getpwuid(unsigned user)
{
    (void)user;
    return NULL;
}

/* No signal is ever delivered, so each one's handler is the default for good. */
void *signal(int number, void *handler)
{
    (void)number;
    (void)handler;
    return NULL;
}

unsigned sleep(unsigned seconds)
{
    (void)seconds;
    return 0;
}
