/* What the game waits for, told by who reads the key.
 *
 * Each wrapper puts a note about its question on the stack while the game's own
 * function runs; the innermost notes say what a key will be taken for. */
#include "port.h"

static struct asking *innermost;

/* The command's first character has been read; parse() may want a second one. */
static int after_command;

/* The last key that was pressed. */
static int last_key;

void asking_begin(struct asking *asking, enum asking_what what)
{
    memset(asking, 0, sizeof *asking);
    asking->what = what;
    asking->window = WIN_ERR;
    asking->outer = innermost;
    innermost = asking;
}

void asking_end(struct asking *asking)
{
    innermost = asking->outer;
}

const struct asking *asking_innermost(void)
{
    return innermost;
}

/* In a menu any key that it takes ends a count, but for a digit. */
static void menu_key(struct asking *menu, int key)
{
    if (!digit(key))
        menu->count = 0;
    else if (menu->count < LARGEST_INT / 10)
        menu->count = menu->count * 10 + (key - '0');
}

/* Keeps count of a count as get_count() does, which tells nobody. */
void asking_key(int key)
{
    last_key = key;
    if (!innermost || innermost->what != ASKING_COUNT)
        return;
    if (digit(key) && innermost->count < LARGEST_INT / 10)
        innermost->count = innermost->count * 10 + (key - '0');
    else if (key == '\b' || key == '\177')
        innermost->count /= 10;
}

static int is_prefix(int key)
{
    static const int prefixes[] = { NHKF_FIGHT, NHKF_FIGHT2, NHKF_RUSH,
                                    NHKF_RUN, NHKF_RUN2, NHKF_RUN_NOPICKUP,
                                    NHKF_NOPICKUP, NHKF_REQMENU };
    int i;

    for (i = 0; i < SIZE(prefixes); i++)
        if (Cmd.spkeys[prefixes[i]] == key)
            return 1;
    return 0;
}

static enum pending pending_unasked(void)
{
    if (!iflags.in_parse)
        return PENDING_KEY;
    if (Cmd.num_pad ? is_prefix(last_key) : after_command)
        return PENDING_DIRECTION;
    return PENDING_COMMAND;
}

static enum pending pending_for_key(const struct asking *outer)
{
    if (outer && outer->what == ASKING_ITEM)
        return PENDING_ITEM;
    if (outer && outer->what == ASKING_DIRECTION)
        return PENDING_DIRECTION;
    return PENDING_KEY;
}

enum pending pending_kind(void)
{
    const struct asking *asking = innermost;

    if (mailbox.reason != YIELD_KEY)
        return PENDING_NONE;
    if (asking && asking->what == ASKING_COUNT) {
        if (asking->count)
            return PENDING_COUNT;
        asking = asking->outer;
    }
    if (!asking)
        return pending_unasked();
    switch (asking->what) {
    case ASKING_ITEM:
        return PENDING_ITEM;
    case ASKING_DIRECTION:
        return PENDING_DIRECTION;
    case ASKING_POSITION:
        return PENDING_POSITION;
    case ASKING_COUNT:
        return PENDING_COUNT;
    case ASKING_CHOICE:
        return PENDING_CHOICE;
    case ASKING_KEY:
        return pending_for_key(asking->outer);
    case ASKING_TEXT:
        return PENDING_TEXT;
    case ASKING_EXTENDED:
        return PENDING_EXTENDED;
    case ASKING_MENU:
        return PENDING_MENU;
    case ASKING_WINDOW:
        return PENDING_WINDOW;
    case ASKING_MORE:
        return PENDING_MORE;
    }
    return PENDING_KEY;
}

/* The wrappers. */

extern struct obj *nethack_getobj(const char *, const char *);
extern int nethack_getdir(const char *);
extern int nethack_getpos(coord *, BOOLEAN_P, const char *);
extern char nethack_get_count(char *, CHAR_P, long, long *, BOOLEAN_P);
extern void nethack_more(void);
extern void nethack_xwaitforspace(const char *);
extern void nethack_tty_getlin(const char *, char *);

struct obj *getobj(const char *letters, const char *word)
{
    struct asking asking;
    struct obj *item;

    asking_begin(&asking, ASKING_ITEM);
    item = nethack_getobj(letters, word);
    asking_end(&asking);
    return item;
}

int getdir(const char *prompt)
{
    struct asking asking;
    int given;

    asking_begin(&asking, ASKING_DIRECTION);
    given = nethack_getdir(prompt);
    asking_end(&asking);
    return given;
}

int getpos(coord *position, BOOLEAN_P force, const char *goal)
{
    struct asking asking;
    int picked;

    asking_begin(&asking, ASKING_POSITION);
    asking.prompt = goal;
    asking.answers = Cmd.dirchars;
    picked = nethack_getpos(position, force, goal);
    asking_end(&asking);
    return picked;
}

char get_count(char *allowed, CHAR_P first, long most, long *count, BOOLEAN_P historical)
{
    struct asking asking;
    char key;

    after_command = 0;
    asking_begin(&asking, ASKING_COUNT);
    if (digit(first))
        asking.count = first - '0';
    key = nethack_get_count(allowed, first, most, count, historical);
    asking_end(&asking);
    after_command = iflags.in_parse && !innermost;
    return key;
}

/* The letter of a menu's only entry, shown as a message, picks it. */
static const char *answers_to_more(void)
{
    static char letter[2];

    letter[0] = ttyDisplay->dismiss_more > ' ' ? ttyDisplay->dismiss_more : '\0';
    return letter;
}

void more(void)
{
    struct asking asking;

    messages_at_more();
    asking_begin(&asking, ASKING_MORE);
    asking.answers = answers_to_more();
    nethack_more();
    asking_end(&asking);
}

/* Waits that belong to no menu or window are as good as a --More--. */
void xwaitforspace(const char *also)
{
    struct asking asking;
    int noted = innermost
                && (innermost->what == ASKING_MENU || innermost->what == ASKING_WINDOW
                    || innermost->what == ASKING_MORE);

    observed.waits_for_space = 1;
    if (!noted)
        asking_begin(&asking, ASKING_MORE);
    nethack_xwaitforspace(also);
    if (!noted)
        asking_end(&asking);
    if (innermost && innermost->what == ASKING_MENU)
        menu_key(innermost, morc);
    observed.waits_for_space = 0;
}

/* Wrapped, not only put into the window port: a menu's search asks it directly. */
void tty_getlin(const char *query, char *line)
{
    struct asking asking;

    asking_begin(&asking, ASKING_TEXT);
    asking.prompt = query;
    asking.capacity = COLNO;
    nethack_tty_getlin(query, line);
    asking_end(&asking);
}
