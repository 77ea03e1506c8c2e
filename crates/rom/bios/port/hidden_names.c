/* What glyphs are called, for hidden.c: as the player knows the things, so that this
 * one is no secret. Objects come in the order of their looks, as in a frame, where one
 * glyph stands for all unknown kinds that look the same. */
#include "hidden.h"
#include "looks.h"

static void with_called(struct sheet *sheet, const char *what, const char *called)
{
    char text[BUFSZ];

    snprintf(text, sizeof text, "%s called %s", what, called);
    sheet_text(sheet, text);
}

static void joined(struct sheet *sheet, const char *first, const char *between, const char *last)
{
    char text[BUFSZ];

    snprintf(text, sizeof text, "%s%s%s", first, between, last);
    sheet_text(sheet, text);
}

/* The word for a class whose kinds are told as "scroll of X". */
static const char *of_class(int class)
{
    switch (class) {
    case SCROLL_CLASS:
        return "scroll";
    case POTION_CLASS:
        return "potion";
    case WAND_CLASS:
        return "wand";
    case SPBOOK_CLASS:
        return "spellbook";
    case RING_CLASS:
        return "ring";
    default:
        return 0;
    }
}

/* A class whose kinds have names of their own, and looks that need a word behind. */
static const char *of_looks(const struct objclass *kind)
{
    switch (kind->oc_class) {
    case AMULET_CLASS:
        return "amulet";
    case GEM_CLASS:
        return kind->oc_material == MINERAL ? "stone" : "gem";
    default:
        return 0;
    }
}

static void unknown_of_class(struct sheet *sheet, const struct objclass *kind, const char *class)
{
    const char *looks = OBJ_DESCR(*kind);

    if (kind->oc_uname)
        with_called(sheet, class, kind->oc_uname);
    else if (kind->oc_class == SCROLL_CLASS && kind->oc_magic)
        joined(sheet, class, " labeled ", looks);
    else
        joined(sheet, looks, " ", kind == &objects[SPE_NOVEL] ? "book" : class);
}

/* Whether this is the glyph that other kinds share. */
static int is_shared(int look)
{
    int other;

    for (other = look + 1; other < NUM_OBJECTS && objects[other].oc_class == objects[look].oc_class;
         other++)
        if (looks_first(other) == look)
            return 1;
    return 0;
}

static void object(struct sheet *sheet, const struct objclass *kind)
{
    int known = kind->oc_name_known && !is_shared(kind->oc_descr_idx);
    const char *class = of_class(kind->oc_class), *looks_like = of_looks(kind);
    const char *name = OBJ_NAME(*kind), *looks = OBJ_DESCR(*kind);
    int unique = kind == &objects[SPE_NOVEL] || kind == &objects[SPE_BOOK_OF_THE_DEAD];

    sheet_item(sheet);
    if (!name)
        sheet_text(sheet, "");
    else if (class && (known || !looks) && !unique)
        joined(sheet, class, " of ", name);
    else if (known || !looks)
        sheet_text(sheet, name);
    else if (class)
        unknown_of_class(sheet, kind, class);
    else if (kind->oc_uname && !is_shared(kind->oc_descr_idx))
        with_called(sheet, looks_like ? looks_like : looks, kind->oc_uname);
    else if (looks_like && !strstr(looks, "Amulet")) /* not those that say all */
        joined(sheet, looks, " ", looks_like);
    else
        sheet_text(sheet, looks);
}

static void objects_by_looks(struct sheet *sheet)
{
    short kinds[NUM_OBJECTS] = { 0 };
    int i;

    for (i = 0; i < NUM_OBJECTS; i++)
        if (objects[i].oc_descr_idx >= 0 && objects[i].oc_descr_idx < NUM_OBJECTS)
            kinds[objects[i].oc_descr_idx] = (short) i;
    sheet->items = 0;
    for (i = 0; i < NUM_OBJECTS; i++)
        object(sheet, &objects[kinds[i]]);
}

void hidden_names(struct sheet *sheet)
{
    int i;

    sheet_say(sheet, "{\"monsters\":[");
    for (sheet->items = i = 0; i < NUMMONS; i++) {
        sheet_item(sheet);
        sheet_text(sheet, mons[i].mname);
    }
    sheet_say(sheet, "],\"objects\":[");
    objects_by_looks(sheet);
    sheet_say(sheet, "],\"classes\":[");
    for (sheet->items = i = 0; i < MAXOCLASSES; i++) {
        sheet_item(sheet);
        sheet_text(sheet, def_oc_syms[i].explain);
    }
    sheet_say(sheet, "],\"symbols\":[");
    for (sheet->items = i = 0; i < MAXPCHARS; i++) {
        sheet_item(sheet);
        sheet_text(sheet, defsyms[i].explanation);
    }
    sheet_say(sheet, "],\"warnings\":[");
    for (sheet->items = i = 0; i < WARNCOUNT; i++) {
        sheet_item(sheet);
        sheet_text(sheet, def_warnsyms[i].explanation);
    }
    sheet_say(sheet, "]}");
}
