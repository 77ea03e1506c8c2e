/* What the window port is told about map, status and inventory, kept as data. */
#include "looks.h"

struct display display;

struct item_record {
    uint8_t letter, class;
    int16_t glyph;
    uint16_t length;
} __attribute__((packed));

void display_power_on(void)
{
    display_clear_map();
}

void display_clear_map(void)
{
    int x, y;

    for (y = 0; y < ROWNO; y++)
        for (x = 0; x < COLNO - 1; x++)
            display.glyphs[y][x] = cmap_to_glyph(S_stone);
    memset(display.chars, ' ', sizeof display.chars);
    memset(display.colors, 0, sizeof display.colors);
    memset(display.specials, 0, sizeof display.specials);
}

extern int nethack_mapglyph(int, int *, int *, unsigned *, int, int, unsigned);

/* The last thing that mapglyph() was asked, by whom the port prints a glyph. */
static struct {
    int symbol, color;
    unsigned special;
} mapped;

int mapglyph(int glyph, int *symbol, int *color, unsigned *special, int x, int y, unsigned flag)
{
    int index = nethack_mapglyph(glyph, symbol, color, special, x, y, flag);

    mapped.symbol = *symbol;
    mapped.color = *color;
    mapped.special = *special;
    return index;
}

/* What a kind of thing looks like is shuffled for each game, its glyph isn't: so that
 * no array tells what an unidentified thing is, it gets the glyph of its looks. Frames
 * tell less, see looks.c. */
static short appearance(int glyph)
{
    if (glyph_is_normal_object(glyph))
        return (short) (GLYPH_OBJ_OFF + objects[glyph_to_obj(glyph)].oc_descr_idx);
    return (short) glyph;
}

/* Black things are shown dark gray or blue. */
static unsigned char shown_color(int glyph)
{
    if (mapped.color != CLR_BLACK || glyph == cmap_to_glyph(S_stone))
        return (unsigned char) mapped.color;
    return iflags.wc2_darkgray ? NO_COLOR : CLR_BLUE;
}

/* Called once the port has printed the glyph, and so mapped it. */
void display_glyph(int x, int y, int glyph)
{
    if (x < 1 || x >= COLNO || y < 0 || y >= ROWNO)
        return;
    display.glyphs[y][x - 1] = appearance(glyph);
    display.chars[y][x - 1] = (unsigned char) mapped.symbol;
    display.colors[y][x - 1] = shown_color(glyph);
    display.specials[y][x - 1] = (unsigned char) mapped.special;
}

void display_status_enable(int field, int enable)
{
    if (field < 0 || field >= MAXBLSTATS)
        return;
    if (enable)
        display.status_enabled |= 1UL << field;
    else
        display.status_enabled &= ~(1UL << field);
}

/* The values behind the lines that have just been drawn, in the order of NLE's
 * blstats. */
static void take_numbers(void)
{
    const int64_t numbers[STATUS_NUMBERS] = {
        u.ux - 1,
        u.uy,
        acurrstr(),
        ACURR(A_STR),
        ACURR(A_DEX),
        ACURR(A_CON),
        ACURR(A_INT),
        ACURR(A_WIS),
        ACURR(A_CHA),
        botl_score(),
        Upolyd ? u.mh : u.uhp,
        Upolyd ? u.mhmax : u.uhpmax,
        depth(&u.uz),
        money_cnt(invent),
        u.uen,
        u.uenmax,
        u.uac,
        Upolyd ? mons[u.umonnum].mlevel : 0,
        u.ulevel,
        u.uexp,
        moves,
        u.uhs,
        near_capacity(),
        u.uz.dnum,
        u.uz.dlevel,
        display.status_condition,
        u.ualign.type,
    };

    memcpy(display.numbers, numbers, sizeof numbers);
}

void display_status(int field, const void *value)
{
    if (field == BL_FLUSH || field == BL_RESET) {
        take_numbers();
        observed_status();
        memcpy(display.shown_text, display.status_text, sizeof display.shown_text);
        display.has_status = 1;
        display.polymorphed = Upolyd;
    } else if (field == BL_CONDITION) {
        display.status_condition = *(const long *) value;
    } else if (field >= 0 && field < MAXBLSTATS) {
        char *text = display.status_text[field];

        strncpy(text, value, STATUS_TEXT_BYTES - 1);
        text[STATUS_TEXT_BYTES - 1] = '\0';
    }
}

/* Done at every update of the engine, wanted or not: naming things draws from the
 * display generator and rotates the game's name buffers. */
void display_items(void)
{
    struct obj *item;

    display.inventory_count = display.inventory_used = 0;
    for (item = invent; item; item = item->nobj) {
        int glyph = obj_to_glyph(item, rn2_on_display_rng);
        const char *text = doname(item);
        struct item_record record = { (uint8_t) item->invlet, (uint8_t) item->oclass,
                                      look_of_item(item, glyph), (uint16_t) strlen(text) };

        if (display.inventory_used + sizeof record + record.length > INVENTORY_BYTES)
            break;
        memcpy(&display.inventory[display.inventory_used], &record, sizeof record);
        memcpy(&display.inventory[display.inventory_used + sizeof record], text, record.length);
        display.inventory_used += sizeof record + record.length;
        if (display.inventory_count < INVENTORY_GLYPHS)
            display.inventory_glyphs[display.inventory_count] = appearance(glyph);
        display.inventory_count++;
    }
}
