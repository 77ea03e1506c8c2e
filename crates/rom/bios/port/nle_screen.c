/* The screen as NLE's emulator of an ANSI terminal leaves it, whose ways show in
 * what the tty port then writes. */
#include "port.h"
#include "tcap.h"

#include <stdio.h>

#define BIT(attr) (1 << (attr))

extern char erase_char, kill_char;
extern void nethack_g_putch(int);
extern void nethack_tty_raw_print(const char *);
void port_perror(const char *);

/* The port asks only whether there are sequences to move the cursor by. Nobody has
 * told NLE which keys erase, so that only backspace and delete do. */
void nle_screen_power_on(void)
{
    static char some[] = "";

    nh_CM = nh_ND = some;
    erase_char = kill_char = 0;
}

static void put_cell(int c)
{
    int row = terminal.row, column = terminal.column;
    int color = terminal.color, attribute = terminal.attribute;

    if (color != NO_COLOR && attribute & BIT(ATR_BOLD)) {
        /* A bold colour is a bright one, and bright black is the game's black. */
        color = color == CLR_BLACK ? CLR_BLACK : color | BRIGHT;
        attribute &= ~BIT(ATR_BOLD);
    }
    terminal.chars[row][column] = (unsigned char) c;
    terminal.colors[row][column] = (unsigned char) color;
    terminal.attributes[row][column] = (unsigned char) attribute;
    if (++terminal.column == TERMINAL_COLUMNS) {
        terminal.column = 0;
        terminal_line_feed();
    }
}

static void tab(void)
{
    do
        terminal.column++;
    while (terminal.column < TERMINAL_COLUMNS - 1 && terminal.column % 8);
    if (terminal.column > TERMINAL_COLUMNS - 1)
        terminal.column = TERMINAL_COLUMNS - 1;
}

void nle_put(int c)
{
    switch (c & 0xff) {
    case '\0':
    case '\007':
        break;
    case '\b':
        backsp();
        break;
    case '\t':
        tab();
        break;
    case '\n': /* the column stays */
        terminal_line_feed();
        break;
    case '\r':
        terminal.column = 0;
        break;
    default:
        put_cell(c);
        break;
    }
}

/* Relative moves, so that where the port's idea of the cursor is wrong, it stays as
 * wrong. Above the first row comes the last. */
void nle_move(int column, int row)
{
    for (; ttyDisplay->cury > row; ttyDisplay->cury--)
        terminal.row = terminal.row ? terminal.row - 1 : TERMINAL_ROWS - 1;
    for (; ttyDisplay->cury < row; ttyDisplay->cury++)
        if (terminal.row < TERMINAL_ROWS - 1)
            terminal.row++;
    for (; ttyDisplay->curx < column; ttyDisplay->curx++)
        if (terminal.column < TERMINAL_COLUMNS - 1)
            terminal.column++;
    for (; ttyDisplay->curx > column; ttyDisplay->curx--)
        backsp();
}

/* There is no sequence that clears to the end of the screen: line by line. */
void nle_clear_below(void)
{
    int row;

    for (row = ttyDisplay->cury + 1; row <= TERMINAL_ROWS - 2; row++) {
        cl_end();
        terminal_line_feed();
    }
    cl_end();
    tty_curs(BASE_WINDOW, (int) ttyDisplay->curx + 1, (int) ttyDisplay->cury);
}

void nle_plain(void)
{
    terminal.color = NO_COLOR;
    terminal.attribute = 0;
}

/* Gray is what a plain cell has, so nothing is sent for it. A dark colour begins
 * with a reset, a bright one doesn't. */
void nle_start_color(int color)
{
    if (color == CLR_GRAY || color == NO_COLOR || color >= CLR_MAX)
        return;
    if (color == CLR_BLACK && !iflags.wc2_darkgray)
        color = CLR_BLUE;
    if (color > NO_COLOR || color == CLR_BLACK)
        terminal.attribute |= BIT(ATR_BOLD);
    else
        nle_plain();
    terminal.color = color & ~BRIGHT;
}

void nle_start_attr(int attr)
{
    if (attr == ATR_BOLD || attr == ATR_BLINK)
        terminal.attribute |= BIT(ATR_BOLD);
    else if (attr == ATR_ULINE || attr == ATR_INVERSE)
        terminal.attribute |= BIT(attr);
}

int nle_attr_fixup(int mask)
{
    if (mask & HL_BLINK)
        mask |= HL_BOLD;
    return mask & ~(HL_BLINK | HL_DIM);
}

/* NLE's terminal takes 8-bit text as it is. */
void g_putch(int c)
{
    if (nle_habits())
        terminal_put((unsigned char) c);
    else
        nethack_g_putch(c);
}

void port_perror(const char *subject)
{
    if (!nle_habits())
        perror(subject);
}

/* What the tty port prints so by itself, NLE sends past its terminal. */
void tty_raw_print(const char *text)
{
    if (!nle_habits())
        nethack_tty_raw_print(text);
    else if (ttyDisplay)
        ttyDisplay->rawprint++;
}
