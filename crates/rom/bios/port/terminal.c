/* The terminal under the game's tty port: replaces win/tty/termcap.c,
 * sys/share/unixtty.c, ioctl.c and tclib.c. */
#include "port.h"
#include "tcap.h"

struct terminal terminal;
struct tc_lcl_data tc_lcl_data;
short ospeed;
char erase_char = '\b', intr_char, kill_char = 21;

/* Bit of an attribute in a cell. */
#define STANDOUT 1
#define ATTRIBUTE(attr) (1 << (attr))

void terminal_blank(int row, int from)
{
    if (from >= TERMINAL_COLUMNS)
        return;
    memset(&terminal.chars[row][from], ' ', TERMINAL_COLUMNS - from);
    memset(&terminal.colors[row][from], NO_COLOR, TERMINAL_COLUMNS - from);
    memset(&terminal.attributes[row][from], 0, TERMINAL_COLUMNS - from);
}

void terminal_line_feed(void)
{
    if (terminal.row < TERMINAL_ROWS - 1) {
        terminal.row++;
        return;
    }
    memmove(terminal.chars[0], terminal.chars[1], sizeof terminal.chars - TERMINAL_COLUMNS);
    memmove(terminal.colors[0], terminal.colors[1], sizeof terminal.colors - TERMINAL_COLUMNS);
    memmove(terminal.attributes[0], terminal.attributes[1],
            sizeof terminal.attributes - TERMINAL_COLUMNS);
    terminal_blank(TERMINAL_ROWS - 1, 0);
}

static void put_cell(int c)
{
    if (terminal.column >= TERMINAL_COLUMNS) {
        terminal.column = 0;
        terminal_line_feed();
    }
    terminal.chars[terminal.row][terminal.column] = (unsigned char) c;
    terminal.colors[terminal.row][terminal.column] = (unsigned char) terminal.color;
    terminal.attributes[terminal.row][terminal.column] = (unsigned char) terminal.attribute;
    terminal.column++;
}

void terminal_put(int c)
{
    if (nle_habits()) {
        nle_put(c);
        return;
    }
    switch (c) {
    case '\n':
        terminal.column = 0;
        terminal_line_feed();
        break;
    case '\r':
        terminal.column = 0;
        break;
    case '\b':
        backsp();
        break;
    case '\007': /* the bell shows nothing */
        break;
    default:
        put_cell(c);
        break;
    }
}

int xputc(int c)
{
    terminal_put(c);
    return c;
}

void xputs(const char *text)
{
    while (*text)
        terminal_put((unsigned char) *text++);
}

static void move_to(int column, int row)
{
    terminal.column = column < 0 ? 0 : column > TERMINAL_COLUMNS - 1 ? TERMINAL_COLUMNS - 1 : column;
    terminal.row = row < 0 ? 0 : row > TERMINAL_ROWS - 1 ? TERMINAL_ROWS - 1 : row;
}

void cmov(int x, int y)
{
    move_to(x, y);
    ttyDisplay->curx = (short) x;
    ttyDisplay->cury = (short) y;
}

void nocmov(int x, int y)
{
    if (nle_habits()) {
        nle_move(x, y);
        return;
    }
    cmov(x, y);
}

void home(void)
{
    move_to(0, 0);
    if (ttyDisplay)
        ttyDisplay->curx = ttyDisplay->cury = 0;
}

void backsp(void)
{
    if (terminal.column)
        terminal.column--;
}

void cl_end(void)
{
    terminal_blank(terminal.row, terminal.column);
}

void cl_eos(void)
{
    int row;

    if (nle_habits()) {
        nle_clear_below();
        return;
    }
    cl_end();
    for (row = terminal.row + 1; row < TERMINAL_ROWS; row++)
        terminal_blank(row, 0);
}

void clear_screen(void)
{
    int row;

    for (row = 0; row < TERMINAL_ROWS; row++)
        terminal_blank(row, 0);
    home();
}

void standoutbeg(void)
{
    if (nle_habits()) {
        nle_start_attr(ATR_BOLD);
        return;
    }
    terminal.attribute |= STANDOUT;
}

void standoutend(void)
{
    if (nle_habits()) {
        nle_plain();
        return;
    }
    terminal.attribute &= ~STANDOUT;
}

int term_attr_fixup(int mask)
{
    return nle_habits() ? nle_attr_fixup(mask) : mask;
}

void term_start_attr(int attr)
{
    if (nle_habits())
        nle_start_attr(attr);
    else if (attr)
        terminal.attribute |= ATTRIBUTE(attr);
}

void term_end_attr(int attr)
{
    if (nle_habits() && attr)
        nle_plain();
    else if (attr)
        terminal.attribute &= ~ATTRIBUTE(attr);
}

void term_start_raw_bold(void)
{
    term_start_attr(ATR_BOLD);
}

void term_end_raw_bold(void)
{
    term_end_attr(ATR_BOLD);
}

void term_start_color(int color)
{
    if (nle_habits())
        nle_start_color(color);
    else
        terminal.color = color;
}

void term_end_color(void)
{
    if (nle_habits())
        nle_plain();
    terminal.color = NO_COLOR;
}

/* The characters of DEC's line-drawing set come without their high bit; so that
 * a frame can tell them from letters, they get it back. No symbol set with them
 * can be chosen yet. */
void graph_on(void)
{
}

void graph_off(void)
{
}

void tty_startup(int *width, int *height)
{
    *width = CO = TERMINAL_COLUMNS;
    *height = LI = TERMINAL_ROWS;
    if (nle_habits())
        nle_screen_power_on();
    terminal.color = NO_COLOR;
    clear_screen();
}

void tty_shutdown(void)
{
}

void tty_number_pad(int state)
{
    (void) state;
}

void tty_start_screen(void)
{
    if (nle_habits())
        nle_plain();
}

void tty_end_screen(void)
{
    clear_screen();
}

void tty_nhbell(void)
{
}

void tty_delay_output(void)
{
}

void gettty(void)
{
}

void settty(const char *text)
{
    end_screen();
    if (text)
        raw_print(text);
}

void setftty(void)
{
    iflags.cbreak = ON;
    iflags.echo = OFF;
    start_screen();
}

void intron(void)
{
}

void introff(void)
{
}

void getwindowsz(void)
{
    LI = TERMINAL_ROWS;
    CO = TERMINAL_COLUMNS;
}
