/* Which glyph a frame gives a thing: no other than what the player can tell it from.
 * The glyphs that NLE's arrays hold tell more, as NLE's do. */
#include "looks.h"

/* The kind that looks so. Looks are shuffled for each game, within a class. */
static int kind_of(int look)
{
    int class = objects[look].oc_class, kind;

    if (objects[look].oc_descr_idx == look)
        return look;
    for (kind = bases[class]; kind < NUM_OBJECTS && objects[kind].oc_class == class; kind++)
        if (objects[kind].oc_descr_idx == look)
            return kind;
    return look;
}

/* Those of which the game's words tell no more than the class until they were seen up
 * close. */
static int is_vague(int class)
{
    switch (class) {
    case RING_CLASS:
    case AMULET_CLASS:
    case POTION_CLASS:
    case SCROLL_CLASS:
    case SPBOOK_CLASS:
    case WAND_CLASS:
    case GEM_CLASS:
        return 1;
    default:
        return 0;
    }
}

int looks_first(int look)
{
    const char *text = obj_descr[look].oc_descr;
    int other;

    if (text)
        for (other = bases[(int) objects[look].oc_class]; other < look; other++)
            if (obj_descr[other].oc_descr && !strcmp(obj_descr[other].oc_descr, text))
                return other;
    return look;
}

/* Of several kinds that look the same, the unknown ones have one glyph. */
static short glyph_of(int kind, int seen_close)
{
    int class = objects[kind].oc_class, look = objects[kind].oc_descr_idx;

    if (is_vague(class) && !seen_close)
        return (short) (MAX_GLYPH + class);
    if (!objects[kind].oc_name_known || !seen_close)
        look = looks_first(look);
    return (short) (GLYPH_OBJ_OFF + look);
}

/* As when the game is asked what lies there. Of a game that has stopped for good, no list
 * is followed. */
static int is_seen_close(int x, int y, int kind)
{
    const struct obj *lying;

    if (mailbox.reason != YIELD_KEY || Hallucination)
        return 0;
    lying = sobj_at(kind, x, y);
    return (lying && lying->dknown) || (distu(x, y) <= 2 && !Blind);
}

#define IS_OBJECT(glyph) ((uint16_t) ((glyph) - GLYPH_OBJ_OFF) < NUM_OBJECTS)

static int has_objects(const int16_t row[COLNO - 1])
{
    int has = 0, x;

    for (x = 0; x < COLNO - 1; x++)
        has |= IS_OBJECT(row[x]);
    return has;
}

void looks_of_map(int16_t glyphs[ROWNO][COLNO - 1])
{
    int x, y, kind;

    for (y = 0; y < ROWNO; y++) {
        if (!has_objects(glyphs[y]))
            continue;
        for (x = 1; x < COLNO; x++)
            if (IS_OBJECT(glyphs[y][x - 1])) {
                kind = kind_of(glyphs[y][x - 1] - GLYPH_OBJ_OFF);
                glyphs[y][x - 1] = glyph_of(kind, is_seen_close(x, y, kind));
            }
    }
}

short look_of_item(const struct obj *item, int glyph)
{
    if (!glyph_is_normal_object(glyph))
        return (short) glyph;
    if (Hallucination)
        return (short) (MAX_GLYPH + item->oclass);
    return glyph_of(glyph_to_obj(glyph), item->dknown);
}
