/* Commands that NLE has taken from the player. Each of them still takes a turn. */
#include "port.h"
#include "func_tab.h"

static int no_operation(void)
{
    pline("Noop");
    return 1;
}

static int no_save(void)
{
    pline("You get the feeling there's only one way to save yourself...");
    return 1;
}

static int no_options(void)
{
    pline("The options are already set perfectly for you!");
    return 1;
}

/* Where the system can stop a program, the game asks the port to; NLE's can't. */
static int no_suspend(void)
{
    pline("Sorry, it seems we have no SIGTSTP here.  Try ! or S.");
    return 0;
}

static const struct {
    const char *name;
    int (*does)(void);
} switched[] = {
    { "history", no_operation }, { "options", no_options }, { "prevmsg", no_operation },
    { "save", no_save },         { "suspend", no_suspend },
};

void nle_commands_power_on(void)
{
    struct ext_func_tab *command;
    int i;

    for (command = extcmdlist; command->ef_txt; command++)
        for (i = 0; i < SIZE(switched); i++)
            if (!strcmp(command->ef_txt, switched[i].name)) {
                command->ef_funct = switched[i].does;
                command->flags &= ~CMD_NOT_AVAILABLE;
            }
}
