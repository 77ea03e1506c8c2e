/* NLE's observation of the stopped game. Runs on the host's stack. */
#include "observe.h"

#include <emmintrin.h>

struct observed observed;

/* Of a record in display.inventory. */
struct item {
    uint8_t letter, class;
    int16_t glyph;
    uint16_t length;
} __attribute__((packed));

/* As much of a text as fits, then zeroes; no terminator if there is no room. */
static void put_text(void *out, const char *text, size_t size)
{
    size_t length = strlen(text);

    if (length > size)
        length = size;
    memcpy(out, text, length);
    memset((char *) out + length, 0, size - length);
}

void observed_message(const char *text)
{
    put_text(observed.message, text, sizeof observed.message - 1);
}

/* The places of blstats that are not only taken when the status lines are drawn. */
enum { X = 0, Y = 1, HP = 10, HP_MAX = 11, ENERGY = 14, ENERGY_MAX = 15, TURN = 20, CONDITION = 25 };

void observed_status(void)
{
    observed.x = u.ux - 1;
    observed.y = u.uy;
    observed.turn = moves;
}

/* Before the game has begun, and after its windows have closed, nothing is shown. */
static int in_game(void)
{
    return (program_state.something_worth_saving || program_state.in_moveloop)
           && iflags.window_inited;
}

/* While the hero changes level, the old place stays until the new one is seen. */
void observed_wait(void)
{
    if (!u.dz && in_game())
        observed_status();
}

static int64_t within(int64_t least, int64_t number, int64_t most)
{
    return number < least ? least : number > most ? most : number;
}

static void see_status(int64_t *out)
{
    memcpy(out, display.numbers, sizeof display.numbers);
    out[X] = observed.x;
    out[Y] = observed.y;
    out[TURN] = observed.turn;
    out[HP] = within(0, out[HP], 9999);
    out[HP_MAX] = within(INT64_MIN, out[HP_MAX], 9999);
    out[ENERGY] = within(INT64_MIN, out[ENERGY], 9999);
    out[ENERGY_MAX] = within(INT64_MIN, out[ENERGY_MAX], 9999);
    out[CONDITION] = display.status_condition;
}

static void see_message(unsigned char *out)
{
    const char *text = "";

    if (observed.in_yn_function)
        text = observed.message;
    else if (ttyDisplay->toplin)
        text = toplines;
    put_text(out, text, MESSAGE_BYTES);
}

static void see_map(struct observation *out, uint32_t wanted)
{
    if (wanted & OBSERVE_GLYPHS)
        memcpy(out->glyphs, display.glyphs, sizeof out->glyphs);
    if (wanted & OBSERVE_MAPPED) {
        memcpy(out->chars, display.chars, sizeof out->chars);
        memcpy(out->colors, display.colors, sizeof out->colors);
        memcpy(out->specials, display.specials, sizeof out->specials);
    }
    if (wanted & OBSERVE_BLSTATS)
        see_status(out->blstats);
    if (wanted & OBSERVE_MESSAGE)
        see_message(out->message);
}

static void see_stone(int16_t out[ROWNO][COLNO - 1])
{
    int x, y;

    for (y = 0; y < ROWNO; y++)
        for (x = 0; x < COLNO - 1; x++)
            out[y][x] = cmap_to_glyph(S_stone);
}

static void see_nothing(struct observation *out, uint32_t wanted)
{
    if (wanted & OBSERVE_GLYPHS)
        see_stone(out->glyphs);
    if (wanted & OBSERVE_MAPPED) {
        memset(out->chars, 0, sizeof out->chars);
        memset(out->colors, 0, sizeof out->colors);
        memset(out->specials, 0, sizeof out->specials);
    }
    if (wanted & OBSERVE_BLSTATS)
        memset(out->blstats, 0, sizeof out->blstats);
    if (wanted & OBSERVE_MESSAGE)
        memset(out->message, 0, sizeof out->message);
}

static void see_inventory(struct observation *out)
{
    const unsigned char *from = display.inventory;
    struct item item;
    uint32_t i, count = display.inventory_count;

    if (count > INVENTORY_ITEMS)
        count = INVENTORY_ITEMS;
    memset(out->inv_strs, 0, sizeof out->inv_strs);
    for (i = 0; i < count; i++) {
        size_t length;

        memcpy(&item, from, sizeof item);
        from += sizeof item;
        out->inv_glyphs[i] = display.inventory_glyphs[i];
        out->inv_letters[i] = item.letter;
        out->inv_oclasses[i] = item.class;
        length = item.length < ITEM_TEXT_BYTES ? item.length : ITEM_TEXT_BYTES;
        memcpy(out->inv_strs[i], from, length);
        from += item.length;
    }
    for (; i < INVENTORY_ITEMS; i++) {
        out->inv_glyphs[i] = NO_GLYPH;
        out->inv_letters[i] = 0;
        out->inv_oclasses[i] = MAXOCLASSES;
    }
}

static int on_stairs_down(void)
{
    return (u.ux == xdnstair && u.uy == ydnstair)
           || (u.ux == sstairs.sx && u.uy == sstairs.sy && !sstairs.up);
}

static void see_internal(struct observation *out)
{
    const int32_t misc[] = { observed.in_yn_function, observed.in_getlin,
                             observed.waits_for_space };
    const int32_t state[] = { program_state.gameover,      program_state.panicking,
                              program_state.exiting,       program_state.in_moveloop,
                              program_state.in_impossible, program_state.something_worth_saving };

    memcpy(out->misc, misc, sizeof misc);
    memcpy(out->program_state, state, sizeof state);
    memset(out->internal, 0, sizeof out->internal);
    out->internal[0] = deepest_lev_reached(FALSE);
    memcpy(&out->internal[1], misc, sizeof misc);
    out->internal[4] = on_stairs_down();
    out->internal[7] = u.uhunger;
    out->internal[8] = (int32_t) u.urexp;
}

static __m128i choose(__m128i where, __m128i one, __m128i other)
{
    return _mm_or_si128(_mm_and_si128(where, one), _mm_andnot_si128(where, other));
}

/* What 16 cells show as one number: a plain cell nothing or gray, the game's black
 * bright black, and 16 more where it is reversed. */
static __m128i shown(__m128i symbols, __m128i colors, __m128i attributes)
{
    const __m128i none = _mm_set1_epi8(NO_COLOR), black = _mm_set1_epi8(CLR_BLACK);
    __m128i blank = _mm_cmpeq_epi8(symbols, _mm_set1_epi8(' '));
    __m128i plain = choose(blank, black, _mm_set1_epi8(CLR_GRAY));
    __m128i seen = choose(_mm_cmpeq_epi8(colors, black), none, colors);
    __m128i reversed = _mm_and_si128(attributes, _mm_set1_epi8((char) (1 << ATR_INVERSE)));

    seen = choose(_mm_cmpeq_epi8(colors, none), plain, seen);
    return _mm_or_si128(seen, _mm_srli_epi16(reversed, 3));
}

_Static_assert(1 << ATR_INVERSE >> 3 == CLR_MAX, "a reversed cell counts 16 more");
_Static_assert(TERMINAL_ROWS * TERMINAL_COLUMNS % 16 == 0, "whole blocks");

static void see_terminal(struct observation *out)
{
    const unsigned char *symbols = terminal.chars[0], *colors = terminal.colors[0];
    const unsigned char *attributes = terminal.attributes[0];
    int i;

    memcpy(out->tty_chars, terminal.chars, sizeof out->tty_chars);
    for (i = 0; i < TERMINAL_ROWS * TERMINAL_COLUMNS; i += 16)
        _mm_storeu_si128((__m128i *) &out->tty_colors[0][i],
                         shown(_mm_loadu_si128((const __m128i *) &symbols[i]),
                               _mm_loadu_si128((const __m128i *) &colors[i]),
                               _mm_loadu_si128((const __m128i *) &attributes[i])));
    out->tty_cursor[0] = (uint8_t) terminal.row;
    out->tty_cursor[1] = (uint8_t) (terminal.column < TERMINAL_COLUMNS ? terminal.column
                                                                       : TERMINAL_COLUMNS - 1);
}

void rom_observe(struct observation *out, uint32_t wanted)
{
    if (wanted & OBSERVE_TTY)
        see_terminal(out);
    /* Once the game has ended, the other arrays stay as they were. */
    if (mailbox.reason != YIELD_KEY)
        return;
    if (wanted & OBSERVE_INTERNAL)
        see_internal(out);
    if (!in_game()) {
        see_nothing(out, wanted);
        return;
    }
    see_map(out, wanted);
    if (wanted & OBSERVE_INVENTORY)
        see_inventory(out);
}
