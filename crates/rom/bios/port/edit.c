/* Edits between two keys: runs on the game's own stack, in the middle of its wait for
 * a command, and returns to that wait. */
#include "edit.h"

#include <stdio.h>

/* After this many answers an edit is taken for one that asks without end. */
#define ANSWERS_MAX 256

__attribute__((section(".outside"))) struct edit_box edit_box;

/* Nothing waits for a key while an edit is made. */
static int editing, answers;

int edit_refuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(edit_box.reason, sizeof edit_box.reason, format, arguments);
    va_end(arguments);
    return 0;
}

int edit_number(const char **words, long *number)
{
    char *end;

    *number = strtol(*words, &end, 10);
    if (end == *words || (*end && *end != ' '))
        return 0;
    *words = *end ? end + 1 : end;
    return 1;
}

int edit_word(const char **words, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*words, word, length) || ((*words)[length] && (*words)[length] != ' '))
        return 0;
    *words += length + ((*words)[length] == ' ');
    return 1;
}

int edit_place(const char **words, int *x, int *y)
{
    long row, column;

    if (!edit_number(words, &row) || !edit_number(words, &column))
        return edit_refuse("a place is a row and a column");
    if (row < 1 || row > ROWNO || column < 0 || column > COLNO - 2)
        return edit_refuse("row %ld, column %ld is not on the map", row, column);
    *x = (int) column + 1;
    *y = (int) row - 1;
    return 1;
}

/* Not onto a trap: what it does would not wait for the next key. */
static int edit_hero(const char *words)
{
    int x, y;

    if (!edit_place(&words, &x, &y))
        return 0;
    if (x == u.ux && y == u.uy)
        return edit_refuse("the hero is there");
    if (!goodpos(x, y, &youmonst, 0))
        return edit_refuse("the hero can't stand there");
    if (t_at(x, y))
        return edit_refuse("there is a trap");
    teleds(x, y, FALSE);
    if (u.ux != x || u.uy != y)
        return edit_refuse("the hero didn't stay there");
    return 1;
}

static int edit_level(const char *words)
{
    long dungeon, number;
    d_level to;

    if (!edit_number(&words, &dungeon) || !edit_number(&words, &number))
        return edit_refuse("a level is the number of a dungeon and a level in it");
    if (dungeon < 0 || dungeon >= MAXDUNGEON || !dungeons[dungeon].num_dunlevs)
        return edit_refuse("there is no dungeon %ld", dungeon);
    if (number < 1 || number > dungeons[dungeon].num_dunlevs)
        return edit_refuse("that dungeon has levels 1 to %d", (int) dungeons[dungeon].num_dunlevs);
    to.dnum = (xchar) dungeon;
    to.dlevel = (xchar) number;
    if (In_endgame(&u.uz) || In_endgame(&to))
        return edit_refuse("nobody is sent to the endgame, or out of it");
    if (on_level(&u.uz, &to))
        return edit_refuse("the hero is on that level");
    schedule_goto(&to, FALSE, FALSE, 0, (char *) 0, (char *) 0);
    deferred_goto();
    if (u.uz.dnum != (xchar) dungeon || u.uz.dlevel != (xchar) number)
        return edit_refuse("the game didn't let the hero go there");
    return 1;
}

static void identify_list(struct obj *obj)
{
    for (; obj; obj = obj->nobj) {
        fully_identify_obj(obj);
        identify_list(obj->cobj);
    }
}

static int edit_identify(const char *words)
{
    (void) words;
    if (!invent)
        return edit_refuse("the hero carries nothing");
    identify_list(invent);
    update_inventory();
    return 1;
}

static int edit_map(const char *words)
{
    (void) words;
    if (!level.flags.hero_memory)
        return edit_refuse("nobody remembers the map of this level");
    do_mapping();
    return 1;
}

static int edit_remove(const char *words)
{
    struct monst *mtmp;
    long id;

    if (!edit_number(&words, &id))
        return edit_refuse("a monster is told by its id");
    for (mtmp = fmon; mtmp; mtmp = mtmp->nmon)
        if (!DEADMONSTER(mtmp) && (long) mtmp->m_id == id)
            break;
    if (!mtmp)
        return edit_refuse("no monster of this level has id %ld", id);
    if (mtmp == u.usteed || mtmp->isgd)
        return edit_refuse("a steed or a vault guard can't be taken away");
    mongone(mtmp);
    return 1;
}

static int make(const char *words)
{
    static const struct {
        const char *word;
        int (*make)(const char *);
    } kinds[] = {
        { "set", edit_set },         { "hero", edit_hero },     { "level", edit_level },
        { "item", edit_item },       { "monster", edit_monster }, { "remove", edit_remove },
        { "identify", edit_identify }, { "map", edit_map },
    };
    int i;

    if (!program_state.in_moveloop || program_state.gameover || pending_kind() != PENDING_COMMAND)
        return edit_refuse("the game does not wait for a command");
    for (i = 0; i < SIZE(kinds); i++)
        if (edit_word(&words, kinds[i].word)) {
            clear_nhwindow(WIN_MESSAGE);
            messages_forget();
            return kinds[i].make(words);
        }
    return edit_refuse("there is no such edit");
}

/* What the game does between two commands, so that screen and status are true. */
static void settle(void)
{
    if (u.utotype)
        deferred_goto();
    if (vision_full_recalc)
        vision_recalc(0);
    find_ac();
    context.botl = TRUE;
    bot();
    flush_screen(1);
}

void edit_perform(void)
{
    edit_box.request[sizeof edit_box.request - 1] = '\0';
    editing = 1;
    answers = 0;
    edit_box.made = make(edit_box.request);
    if (edit_box.made)
        settle();
    editing = answers = 0;
}

/* Texts are passed by, and every question is backed out of. */
int edit_answer(int *key)
{
    const struct asking *asking = asking_innermost();

    if (!editing)
        return 0;
    if (++answers > ANSWERS_MAX)
        bios_fault("an edit asks without end");
    *key = asking && (asking->what == ASKING_MORE || asking->what == ASKING_WINDOW) ? '\r' : '\033';
    return 1;
}
