/* The ends of a game, errno's texts, and the fixed answers of the environment. */
#include "harness.h"

#include <errno.h>
#include <signal.h>

static void check_ends(void)
{
    STOPS_FOR(YIELD_EXIT, lab_exit(3));
    CHECK(mailbox.exit_status == 3, "exit's status is %d", mailbox.exit_status);
    STOPS_FOR(YIELD_EXIT, lab_abort());
    CHECK(mailbox.exit_status == 128 + SIGABRT, "abort's status is %d", mailbox.exit_status);
    FAULTS("what 42 of it", bios_fault("what %d of %s", 42, "it"));
    char long_text[2 * FAULT_BYTES];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    STOPS_FOR(YIELD_FAULT, bios_fault("%s", long_text));
    CHECK(strlen(mailbox.fault) == FAULT_BYTES - 1, "a long diagnosis is cut");
}

static void check_errors(void)
{
    static const int numbers[] = {0, ENOENT, EBADF, EACCES, EEXIST, EINVAL, ESPIPE, EROFS, ERANGE,
        ENAMETOOLONG, EOVERFLOW, -1, 9999};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CHECK(!strcmp(lab_strerror(numbers[i]), strerror(numbers[i])), "strerror(%d) is \"%s\"", numbers[i],
              lab_strerror(numbers[i]));
    lab_errno = ENOENT;
    lab_perror("file");
    lab_perror("");
    lab_perror(NULL);
    CHECK(!strcmp(terminal_text(),
          "file: No such file or directory\nNo such file or directory\nNo such file or directory\n"), "perror");
}

static void check_environment(void)
{
    static const char *const unset[] = {"HOME", "USER", "LOGNAME", "HACKDIR", "NETHACKDIR", "HACKOPTIONS",
        "SHOPTYPE", "SPLEVTYPE", "DEBUGFILES", "", "NETHACKOPTIONSX", "PATH"};
    char text[32];

    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        CHECK(!lab_getenv(unset[i]), "%s is set", unset[i]);
    CHECK(!strcmp(lab_getenv("TERM"), "lab"), "TERM");
    CHECK(!lab_getenv("NETHACKOPTIONS"), "no options are an unset variable");
    strcpy(mailbox.options, "name:x");
    CHECK(lab_getenv("NETHACKOPTIONS") == mailbox.options, "the options");
    CHECK(lab_getcwd(text, sizeof text) == text && !strcmp(text, DISK_DIRECTORY), "getcwd");
    CHECK(!lab_getcwd(text, 4) && lab_errno == ERANGE && !lab_getcwd(text, 0) && lab_errno == EINVAL,
          "getcwd without room");
    FAULTS("getcwd", lab_getcwd(NULL, 0));
    CHECK(lab_getuid() == 1000 && !lab_getpwuid(1000), "the user");
    CHECK(lab_signal(SIGINT, NULL) == NULL && lab_sleep(10) == 0, "signals and sleep");
}

void suite_process(void)
{
    check_ends();
    check_errors();
    check_environment();
}
