/* The game's main function and its dealings with the system: replaces
 * sys/unix/unixmain.c and unixunix.c. */
#include "port.h"
#include "dlb.h"
#include "windows.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct mailbox mailbox;
struct ending ending = { -1, 0 };

extern void nethack_done(int);
extern int nethack_dosave0(void);

/* A game that goes on after done() has not ended. */
void done(int how)
{
    ending.how = how;
    nethack_done(how);
    ending.how = -1;
}

int dosave0(void)
{
    int written = nethack_dosave0();

    ending.saved = written;
    return written;
}

int bios_getkey(void)
{
    int key;

    if (edit_answer(&key))
        return key;
    observed_wait();
    while ((key = bios_yield(YIELD_KEY)) == KEY_EDIT) {
        edit_perform();
        observed_wait();
    }
    messages_forget();
    asking_key(key);
    return key;
}

/* Never asked: see init_random() in level_seed.c. */
unsigned long sys_random_seed(void)
{
    bios_fault("the game asked for a seed that no record holds");
}

void sethanguphandler(void (*handler)(int))
{
    (void) handler;
}

boolean authorize_wizard_mode(void)
{
    return (mailbox.flags & POWER_DEBUG) != 0;
}

boolean check_user_string(char *list)
{
    (void) list;
    return nle_habits() || (mailbox.flags & POWER_DEBUG) != 0;
}

void append_slash(char *name)
{
    size_t length = strlen(name);

    if (length && name[length - 1] != '/') {
        name[length] = '/';
        name[length + 1] = '\0';
    }
}

char *get_login_name(void)
{
    static char name[] = "agent";

    return name;
}

void regularize(char *name)
{
    for (; *name; name++)
        if (*name == '.' || *name == '/' || *name == ' ')
            *name = '_';
}

void error(const char *format, ...)
{
    char text[FAULT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bios_fault("the game gave up before it began: %s", text);
}

static void create(const char *name)
{
    int fd = creat(name, 0660);

    if (fd < 0)
        bios_fault("can't create %s", name);
    (void) close(fd);
}

/* The game's own lock, as its getlock() would make it. */
static void lock_game(void)
{
    int fd;

    Strcpy(lock, "1lock");
    set_levelfile_name(lock, 0);
    fd = creat(fqname(lock, LEVELPREFIX, 0), FCMASK);
    if (fd < 0 || write(fd, &hackpid, sizeof hackpid) != (long) sizeof hackpid)
        bios_fault("can't write the lock file");
    (void) close(fd);
    program_state.preserve_locks = 0;
}

static void boot(void)
{
    static char name[] = "nethack";
    char *arguments[] = { name, 0 };
    int count = 1;

    messages_power_on();
    display_power_on();
    create(RECORD);
    create(LOGFILE);
    create(XLOGFILE);
    sys_early_init();
    hname = name;
    hackpid = 1;
    windows_power_on();
    if (nle_habits())
        nle_commands_power_on();
    initoptions();
    if (nle_habits())
        nle_texts_power_on();
    u.uhp = 1; /* else an early quit would look like a death */
    program_state.preserve_locks = 1;
    init_nhwindows(&count, arguments);
    set_playmode();
    plnamesuffix();
    locknum = 1;
    dlb_init();
    vision_init();
    display_gamewindows();
}

void game_main(void)
{
    int save;

    boot();
    (void) bios_yield(YIELD_BOOT);
    random_seed(mailbox.seed_core, mailbox.seed_display);
    levels_power_on();
    lock_game();
    save = restore_saved_game();
    if (save >= 0 && dorecover(save))
        moveloop(TRUE);
    player_selection();
    levels_enter(0);
    newgame();
    moveloop(FALSE);
    bios_fault("the game's main loop returned");
}
