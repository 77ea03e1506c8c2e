/* What the files of the port give each other. */
#ifndef PORT_H
#define PORT_H

#include "hack.h"
#include "wintty.h"

#include "libc/bios.h"

/* Whether the power-on record asks for NLE's habits. */
static inline int nle_habits(void)
{
    return (mailbox.flags & POWER_NLE) != 0;
}

/* terminal.c: the screen that the game's tty port draws on. */
#define TERMINAL_ROWS 24
#define TERMINAL_COLUMNS 80

struct terminal {
    unsigned char chars[TERMINAL_ROWS][TERMINAL_COLUMNS];
    unsigned char colors[TERMINAL_ROWS][TERMINAL_COLUMNS];
    unsigned char attributes[TERMINAL_ROWS][TERMINAL_COLUMNS];
    int row, column; /* column may be TERMINAL_COLUMNS: the next character wraps */
    int color, attribute;
};
extern struct terminal terminal;
void terminal_blank(int row, int from); /* to the end of the row */
void terminal_line_feed(void);

/* nle_screen.c: the same screen as NLE's emulator of an ANSI terminal has it. */
void nle_screen_power_on(void);
void nle_put(int c);
void nle_move(int column, int row);
void nle_clear_below(void);
void nle_plain(void);
void nle_start_color(int color);
void nle_start_attr(int attr);
int nle_attr_fixup(int mask);

/* nle_commands.c, nle_texts.c */
void nle_commands_power_on(void);
void nle_texts_power_on(void); /* once the options are read */

/* asking.c: what the game waits for. */
enum pending {
    PENDING_NONE = 0,
    PENDING_COMMAND = 1,
    PENDING_COUNT = 2,
    PENDING_DIRECTION = 3,
    PENDING_ITEM = 4,
    PENDING_CHOICE = 5,
    PENDING_TEXT = 6,
    PENDING_MENU = 7,
    PENDING_MORE = 8,
    PENDING_WINDOW = 9,
    PENDING_POSITION = 10,
    PENDING_EXTENDED = 11,
    PENDING_KEY = 12
};

enum asking_what {
    ASKING_ITEM,      /* inside getobj */
    ASKING_DIRECTION, /* inside getdir */
    ASKING_POSITION,  /* inside getpos */
    ASKING_COUNT,     /* inside get_count, which also reads what follows the count */
    ASKING_CHOICE,    /* inside yn_function with a list of answers */
    ASKING_KEY,       /* inside yn_function without one */
    ASKING_TEXT,
    ASKING_EXTENDED,
    ASKING_MENU,
    ASKING_WINDOW,
    ASKING_MORE
};

/* One question that has not been answered; they nest. */
struct asking {
    enum asking_what what;
    const char *prompt;  /* or null */
    const char *answers; /* or null */
    char default_answer;
    short capacity; /* bytes of text taken, or 0 */
    winid window;   /* of a menu or text window, or WIN_ERR */
    long count;     /* typed so far */
    struct asking *outer;
};

void asking_begin(struct asking *asking, enum asking_what what);
void asking_end(struct asking *asking);
const struct asking *asking_innermost(void);
void asking_key(int key);
enum pending pending_kind(void);

/* messages.c: what the game has said since the last key. */
#define MESSAGES_BYTES 16384

struct messages {
    uint64_t next_id; /* of the next message; counts from 1 */
    uint32_t count;   /* in bytes[] */
    uint32_t used;    /* of bytes[] */
    int truncated;    /* older ones of the same key had to go */
    unsigned char bytes[MESSAGES_BYTES]; /* records of messages_add */
};
extern struct messages messages;
void messages_power_on(void);
void messages_forget(void);
void messages_add(const char *text, int shown);
void messages_begin(const char *text); /* the port is about to put it on the screen */
void messages_at_more(void);
void messages_end(void);

/* display.c: what the window port was told about map, status and inventory. */
#define INVENTORY_BYTES 16384
#define INVENTORY_GLYPHS 55
#define STATUS_TEXT_BYTES 80
#define STATUS_NUMBERS 27

struct display {
    short glyphs[ROWNO][COLNO - 1]; /* of looks: see appearance() */
    /* What mapglyph() made of them when they were printed. */
    unsigned char chars[ROWNO][COLNO - 1], colors[ROWNO][COLNO - 1], specials[ROWNO][COLNO - 1];
    int has_status;
    int polymorphed;                       /* as of the last flush */
    char status_text[MAXBLSTATS][STATUS_TEXT_BYTES];
    long status_condition;
    unsigned long status_enabled;          /* bit per field */
    char shown_text[MAXBLSTATS][STATUS_TEXT_BYTES]; /* as of the last flush */
    int64_t numbers[STATUS_NUMBERS];       /* as of the last flush */
    uint32_t inventory_count, inventory_used;
    unsigned char inventory[INVENTORY_BYTES]; /* records of display_items */
    short inventory_glyphs[INVENTORY_GLYPHS]; /* for NLE's arrays */
};
extern struct display display;
void display_power_on(void);
void display_clear_map(void);
void display_glyph(int x, int y, int glyph);
void display_status(int field, const void *value);
void display_status_enable(int field, int enable);
void display_items(void);

/* windows.c: the window port that the game is given. */
extern struct window_procs lab_procs;

/* random.c */
#define GENERATORS_BYTES (2 * (1 + 256 + 256 + 3) * 8)
void random_seed(uint64_t core, uint64_t display_seed);
void random_write(unsigned char *out);
struct isaac64_ctx *random_core(void);

/* level_seed.c */
void levels_power_on(void);
void levels_enter(int dungeon);

/* observe.c: what NLE's observation needs beyond what the window port keeps. */
struct observed {
    int in_yn_function, in_getlin, waits_for_space;
    int64_t x, y, turn; /* blstats' idea of them */
    char message[256];  /* the last text for the message window */
};
extern struct observed observed;
void observed_message(const char *text);
void observed_status(void);
void observed_wait(void);

/* edit.c: what an operator changes between two keys. */
void edit_perform(void);
int edit_answer(int *key); /* whether an edit is being made, which gets its keys here */

/* main.c */
struct ending {
    int how;   /* the argument of the last done() that did not return, or -1 */
    int saved; /* the game has been written to its save file */
};
extern struct ending ending;
void game_main(void);

#endif
