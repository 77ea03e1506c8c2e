/* What no player sees, as JSON. Runs on the host's stack while the game is stopped,
 * and reads its structures only: no function of the game is called that could
 * remember anything. Keep crates/wire/src/hidden.rs in step. */
#include "hidden.h"

#include <stdio.h>

void sheet_say(struct sheet *sheet, const char *format, ...)
{
    size_t left = sheet->used < sheet->capacity ? sheet->capacity - sheet->used : 0;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(left ? sheet->out + sheet->used : 0, left, format, arguments);
    va_end(arguments);
    if (length > 0)
        sheet->used += (size_t) length;
}

void sheet_text(struct sheet *sheet, const char *text)
{
    if (!text) {
        sheet_say(sheet, "null");
        return;
    }
    sheet_say(sheet, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char) *text;

        if (c < ' ' || c == '"' || c == '\\' || c >= 0x7f)
            sheet_say(sheet, "\\u%04x", (unsigned) c);
        else
            sheet_say(sheet, "%c", c);
    }
    sheet_say(sheet, "\"");
}

void sheet_item(struct sheet *sheet)
{
    if (sheet->items++)
        sheet_say(sheet, ",");
}

static const char *yes_no(int value)
{
    return value ? "true" : "false";
}

/* ---- monsters ---- */

static const char *disguise(const struct monst *mtmp)
{
    switch (mtmp->m_ap_type & M_AP_TYPMASK) {
    case M_AP_FURNITURE:
        return mtmp->mappearance < MAXPCHARS ? defsyms[mtmp->mappearance].explanation
                                             : "furniture";
    case M_AP_OBJECT:
        return mtmp->mappearance < NUM_OBJECTS ? OBJ_NAME(objects[mtmp->mappearance]) : "an object";
    case M_AP_MONSTER:
        return mtmp->mappearance < NUMMONS ? mons[mtmp->mappearance].mname : "a monster";
    default:
        return 0;
    }
}

static void monster(struct sheet *sheet, struct monst *mtmp)
{
    sheet_item(sheet);
    sheet_say(sheet, "{\"id\":%u,\"kind\":", mtmp->m_id);
    sheet_text(sheet, mtmp->data->mname);
    sheet_say(sheet, ",\"name\":");
    sheet_text(sheet, has_mname(mtmp) ? MNAME(mtmp) : 0);
    sheet_say(sheet, ",\"row\":%d,\"column\":%d,\"hp\":%d,\"hp_max\":%d,\"level\":%d",
              SHOWN_ROW(mtmp->my), SHOWN_COLUMN(mtmp->mx), mtmp->mhp, mtmp->mhpmax,
              (int) mtmp->m_lev);
    sheet_say(sheet, ",\"asleep\":%s,\"peaceful\":%s,\"tameness\":%d,\"invisible\":%s",
              yes_no(mtmp->msleeping), yes_no(mtmp->mpeaceful), (int) mtmp->mtame,
              yes_no(mtmp->minvis));
    sheet_say(sheet, ",\"hiding\":%s,\"cancelled\":%s,\"fleeing\":%s,\"can_move\":%s",
              yes_no(mtmp->mundetected), yes_no(mtmp->mcan), yes_no(mtmp->mflee),
              yes_no(mtmp->mcanmove));
    sheet_say(sheet, ",\"disguise\":");
    sheet_text(sheet, disguise(mtmp));
    sheet_say(sheet, ",\"shapeshifter\":");
    sheet_text(sheet, mtmp->cham >= LOW_PM && mtmp->cham < NUMMONS ? mons[mtmp->cham].mname : 0);
    sheet_say(sheet, "}");
}

static void monsters(struct sheet *sheet)
{
    struct monst *mtmp;

    sheet_say(sheet, "[");
    for (mtmp = fmon; mtmp && sheet->items < HIDDEN_ITEMS_MAX; mtmp = mtmp->nmon)
        if (!DEADMONSTER(mtmp))
            monster(sheet, mtmp);
    sheet_say(sheet, "]");
}

size_t rom_hidden(uint32_t what, char *out, size_t capacity)
{
    struct sheet sheet = { out, capacity, 0, 0 };

    int told = program_state.in_moveloop && !program_state.gameover;

    /* What things are called is settled before the first key, and known to the end. */
    if (what == HIDDEN_NAMES)
        told = objects[GOLD_PIECE].oc_descr_idx != 0;
    if (mailbox.reason != YIELD_KEY || !told)
        return 0;
    switch (what) {
    case HIDDEN_HERO:
        hidden_hero(&sheet);
        break;
    case HIDDEN_LEVEL:
        hidden_level(&sheet);
        break;
    case HIDDEN_MONSTERS:
        monsters(&sheet);
        break;
    case HIDDEN_OBJECTS:
        hidden_objects(&sheet);
        break;
    case HIDDEN_NAMES:
        hidden_names(&sheet);
        break;
    default:
        break;
    }
    return sheet.used;
}
