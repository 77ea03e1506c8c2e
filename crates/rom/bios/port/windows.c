/* The window port: the game's own tty port, with a tap at each place where it is
 * told something or asks something. Screen and structure so come from one instant. */
#include "port.h"
#include "windows.h"

struct window_procs lab_procs;

/* The text window that has shown a page before it was whole, and kept nothing of it. */
static winid in_parts = WIN_ERR;

static void put_line(winid window, int attr, const char *text)
{
    struct asking asking;
    long rows = wins[window]->maxrow;

    if (!rows && in_parts == window)
        in_parts = WIN_ERR;
    asking_begin(&asking, ASKING_WINDOW);
    tty_putstr(window, attr, text);
    asking_end(&asking);
    if (wins[window]->maxrow < rows)
        in_parts = window;
}

static void lab_putstr(winid window, int attr, const char *text)
{
    if (window != WIN_ERR && wins[window] && wins[window]->type == NHW_TEXT) {
        put_line(window, attr, text);
        return;
    }
    if (window == WIN_MESSAGE)
        observed_message(text);
    /* What the tty port keeps out of its history is a prompt, not a message. */
    if (window == WIN_MESSAGE && !(attr & ATR_NOHISTORY))
        messages_begin(text);
    tty_putstr(window, attr, text);
    messages_end();
}

static void lab_print_glyph(winid window, XCHAR_P x, XCHAR_P y, int glyph, int background)
{
    tty_print_glyph(window, x, y, glyph, background);
    display_glyph(x, y, glyph);
}

static void lab_clear_nhwindow(winid window)
{
    if (window == WIN_MAP)
        display_clear_map();
    tty_clear_nhwindow(window);
}

static void lab_status_update(int field, genericptr_t value, int change, int percent, int color,
                              unsigned long *masks)
{
    display_status(field, value);
    tty_status_update(field, value, change, percent, color, masks);
}

static void lab_status_enablefield(int field, const char *name, const char *format,
                                   BOOLEAN_P enable)
{
    display_status_enable(field, enable);
    tty_status_enablefield(field, name, format, enable);
}

static void lab_update_inventory(void)
{
    display_items();
    tty_update_inventory();
}

/* The keys that getdir() takes: west, then clockwise, down, up, and two for oneself. */
static const char *directions(void)
{
    static char keys[16];

    Sprintf(keys, "%s%c%c", Cmd.dirchars, Cmd.spkeys[NHKF_GETDIR_SELF],
            Cmd.spkeys[NHKF_GETDIR_SELF2]);
    return keys;
}

static char lab_yn_function(const char *query, const char *answers, CHAR_P default_answer)
{
    struct asking asking;
    char answer;

    asking_begin(&asking, answers ? ASKING_CHOICE : ASKING_KEY);
    asking.prompt = query;
    asking.answers = answers;
    asking.default_answer = default_answer;
    if (!answers && asking.outer && asking.outer->what == ASKING_DIRECTION)
        asking.answers = directions();
    observed.in_yn_function = 1;
    answer = tty_yn_function(query, answers, default_answer);
    observed.in_yn_function = 0;
    asking_end(&asking);
    return answer;
}

/* NLE counts a line only if it was asked for through the window port. */
static void lab_getlin(const char *query, char *line)
{
    observed.in_getlin = 1;
    tty_getlin(query, line);
    observed.in_getlin = 0;
}

static int lab_get_ext_cmd(void)
{
    struct asking asking;
    int command;

    asking_begin(&asking, ASKING_EXTENDED);
    asking.prompt = "#";
    asking.capacity = COLNO;
    command = tty_get_ext_cmd();
    asking_end(&asking);
    return command;
}

static int lab_select_menu(winid window, int how, menu_item **picked)
{
    struct asking asking;
    int count;

    asking_begin(&asking, ASKING_MENU);
    asking.window = window;
    count = tty_select_menu(window, how, picked);
    asking_end(&asking);
    return count;
}

static void lab_display_nhwindow(winid window, BOOLEAN_P blocking)
{
    const struct WinDesc *shown = window == WIN_ERR ? 0 : wins[window];
    struct asking asking;

    if (!shown || (shown->type != NHW_MENU && shown->type != NHW_TEXT)) {
        tty_display_nhwindow(window, blocking);
        return;
    }
    asking_begin(&asking, shown->data || !shown->maxrow ? ASKING_WINDOW : ASKING_MENU);
    asking.window = shown->type == NHW_TEXT && window == in_parts ? WIN_ERR : window;
    tty_display_nhwindow(window, blocking);
    asking_end(&asking);
}

static void lab_display_file(const char *name, BOOLEAN_P complain)
{
    struct asking asking;

    /* The tty port shows files through a text window of its own. */
    asking_begin(&asking, ASKING_WINDOW);
    tty_display_file(name, complain);
    asking_end(&asking);
}

static char lab_message_menu(CHAR_P letter, int how, const char *text)
{
    char picked;

    if (how == PICK_NONE)
        return tty_message_menu(letter, how, text);
    messages_begin(text);
    picked = tty_message_menu(letter, how, text);
    messages_end();
    return picked;
}

static void nle_raw_print(const char *text)
{
    xputs(text);
    terminal_put('\n');
}

/* Where NLE's window port is another than the tty port. */
static void be_as_nle(void)
{
    lab_procs.wincap |= WC_PERM_INVENT;
    lab_procs.win_message_menu = genl_message_menu;
    lab_procs.win_raw_print = nle_raw_print;
    lab_procs.win_raw_print_bold = nle_raw_print;
}

void windows_power_on(void)
{
    lab_procs = tty_procs;
    lab_procs.name = "lab";
    lab_procs.win_putstr = lab_putstr;
    lab_procs.win_print_glyph = lab_print_glyph;
    lab_procs.win_clear_nhwindow = lab_clear_nhwindow;
    lab_procs.win_status_update = lab_status_update;
    lab_procs.win_status_enablefield = lab_status_enablefield;
    lab_procs.win_update_inventory = lab_update_inventory;
    lab_procs.win_yn_function = lab_yn_function;
    lab_procs.win_getlin = lab_getlin;
    lab_procs.win_get_ext_cmd = lab_get_ext_cmd;
    lab_procs.win_select_menu = lab_select_menu;
    lab_procs.win_display_nhwindow = lab_display_nhwindow;
    lab_procs.win_display_file = lab_display_file;
    lab_procs.win_message_menu = lab_message_menu;
    if (nle_habits())
        be_as_nle();
    windowprocs = lab_procs;
}
