/* All objects of the level and of the hero, as what they are, for hidden.c. */
#include "hidden.h"

/* Where a list of objects is. */
struct place {
    const char *where;
    unsigned monster; /* whose inventory it is, or 0 */
    unsigned container; /* or 0 */
    int x, y;         /* of what does not lie on the map itself; 0: the object knows */
    int depth;
};

/* Containers in containers: deeper than the game can have them. */
#define DEPTH_MAX 16

static void list(struct sheet *sheet, const struct obj *obj, const struct place *place);

static const char *blessing(const struct obj *obj)
{
    return obj->cursed ? "cursed" : obj->blessed ? "blessed" : "uncursed";
}

static int has_charges(const struct obj *obj)
{
    return obj->oclass == WAND_CLASS || (obj->oclass == TOOL_CLASS && objects[obj->otyp].oc_charged
                                         && !is_weptool(obj));
}

static int has_enchantment(const struct obj *obj)
{
    return obj->oclass == WEAPON_CLASS || obj->oclass == ARMOR_CLASS || is_weptool(obj)
           || (obj->oclass == RING_CLASS && objects[obj->otyp].oc_charged);
}

static void number_or_null(struct sheet *sheet, const char *name, int present, int number)
{
    if (present)
        sheet_say(sheet, ",\"%s\":%d", name, number);
    else
        sheet_say(sheet, ",\"%s\":null", name);
}

static const char *monster_kind(const struct obj *obj)
{
    int kind = obj->corpsenm;

    switch (obj->otyp) {
    case CORPSE:
    case STATUE:
    case FIGURINE:
    case EGG:
    case TIN:
        return kind >= LOW_PM && kind < NUMMONS ? mons[kind].mname : 0;
    default:
        return 0;
    }
}

static void identity(struct sheet *sheet, const struct obj *obj)
{
    sheet_say(sheet, "{\"id\":%u,\"kind\":", obj->o_id);
    sheet_text(sheet, OBJ_NAME(objects[obj->otyp]));
    sheet_say(sheet, ",\"class\":");
    sheet_text(sheet, obj->oclass > RANDOM_CLASS && obj->oclass < MAXOCLASSES
                          ? def_oc_syms[(int) obj->oclass].name
                          : "");
    sheet_say(sheet, ",\"monster\":");
    sheet_text(sheet, monster_kind(obj));
    sheet_say(sheet, ",\"name\":");
    sheet_text(sheet, has_oname(obj) ? ONAME(obj) : 0);
    sheet_say(sheet, ",\"artifact\":%s,\"quantity\":%ld,\"blessing\":\"%s\"",
              obj->oartifact ? "true" : "false", obj->quan, blessing(obj));
    number_or_null(sheet, "enchantment", has_enchantment(obj), obj->spe);
    number_or_null(sheet, "charges", has_charges(obj), obj->spe);
}

static void condition(struct sheet *sheet, const struct obj *obj)
{
    int box = Is_box(obj);

    sheet_say(sheet, ",\"erosion\":[%d,%d],\"erosion_proof\":%s,\"greased\":%s",
              (int) obj->oeroded, (int) obj->oeroded2, obj->oerodeproof ? "true" : "false",
              obj->greased ? "true" : "false");
    sheet_say(sheet, ",\"locked\":%s,\"trapped\":%s,\"poisoned\":%s",
              box && obj->olocked ? "true" : "false", box && obj->otrapped ? "true" : "false",
              is_poisonable(obj) && obj->opoisoned ? "true" : "false");
    sheet_say(sheet, ",\"identified\":%s", obj->known && obj->dknown && obj->bknown
                                                   && objects[obj->otyp].oc_name_known
                                               ? "true"
                                               : "false");
}

static void whereabouts(struct sheet *sheet, const struct obj *obj, const struct place *place)
{
    char letter[2] = { obj->invlet, '\0' };
    int x = place->x ? place->x : obj->ox, y = place->x ? place->y : obj->oy;

    sheet_say(sheet, ",\"where\":\"%s\",\"row\":%d,\"column\":%d", place->where, SHOWN_ROW(y),
              SHOWN_COLUMN(x));
    sheet_say(sheet, ",\"letter\":");
    sheet_text(sheet, place->depth == 0 && !strcmp(place->where, "inventory") ? letter : 0);
    if (place->monster)
        sheet_say(sheet, ",\"carrier\":%u", place->monster);
    else
        sheet_say(sheet, ",\"carrier\":null");
    if (place->container)
        sheet_say(sheet, ",\"container\":%u", place->container);
    else
        sheet_say(sheet, ",\"container\":null");
    sheet_say(sheet, ",\"worn\":%ld}", obj->owornmask);
}

static void one(struct sheet *sheet, const struct obj *obj, const struct place *place)
{
    struct place inside = *place;

    if (obj->otyp < 0 || obj->otyp >= NUM_OBJECTS || !OBJ_NAME(objects[obj->otyp]))
        return;
    sheet_item(sheet);
    identity(sheet, obj);
    condition(sheet, obj);
    whereabouts(sheet, obj, place);
    if (!obj->cobj || place->depth >= DEPTH_MAX)
        return;
    inside.container = obj->o_id;
    inside.depth++;
    if (!inside.x) {
        inside.x = obj->ox;
        inside.y = obj->oy;
    }
    list(sheet, obj->cobj, &inside);
}

static void list(struct sheet *sheet, const struct obj *obj, const struct place *place)
{
    for (; obj && sheet->items < HIDDEN_ITEMS_MAX; obj = obj->nobj)
        one(sheet, obj, place);
}

/* What is on its way to other levels is not of this one. */
void hidden_objects(struct sheet *sheet)
{
    const struct place carried = { "inventory", 0, 0, u.ux, u.uy, 0 };
    const struct place lying = { "floor", 0, 0, 0, 0, 0 };
    const struct place below = { "buried", 0, 0, 0, 0, 0 };
    const struct monst *mtmp;

    sheet_say(sheet, "[");
    list(sheet, invent, &carried);
    list(sheet, fobj, &lying);
    list(sheet, level.buriedobjlist, &below);
    for (mtmp = fmon; mtmp && sheet->items < HIDDEN_ITEMS_MAX; mtmp = mtmp->nmon) {
        const struct place theirs = { "monster", mtmp->m_id, 0, mtmp->mx, mtmp->my, 0 };

        if (!DEADMONSTER(mtmp))
            list(sheet, mtmp->minvent, &theirs);
    }
    sheet_say(sheet, "]");
}
