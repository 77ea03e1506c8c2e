/* The hero as the game keeps him, for hidden.c. */
#include "hidden.h"

static const char *const property_names[LAST_PROP + 1] = {
    [FIRE_RES] = "fire resistance",
    [COLD_RES] = "cold resistance",
    [SLEEP_RES] = "sleep resistance",
    [DISINT_RES] = "disintegration resistance",
    [SHOCK_RES] = "shock resistance",
    [POISON_RES] = "poison resistance",
    [ACID_RES] = "acid resistance",
    [STONE_RES] = "stoning resistance",
    [DRAIN_RES] = "drain resistance",
    [SICK_RES] = "sickness resistance",
    [INVULNERABLE] = "invulnerable",
    [ANTIMAGIC] = "magic resistance",
    [STUNNED] = "stunned",
    [CONFUSION] = "confused",
    [BLINDED] = "blinded",
    [DEAF] = "deaf",
    [SICK] = "sick",
    [STONED] = "turning to stone",
    [STRANGLED] = "strangled",
    [VOMITING] = "vomiting",
    [GLIB] = "slippery fingers",
    [SLIMED] = "turning into slime",
    [HALLUC] = "hallucinating",
    [HALLUC_RES] = "hallucination resistance",
    [FUMBLING] = "fumbling",
    [WOUNDED_LEGS] = "wounded legs",
    [SLEEPY] = "sleepy",
    [HUNGER] = "hunger",
    [SEE_INVIS] = "see invisible",
    [TELEPAT] = "telepathy",
    [WARNING] = "warning",
    [WARN_OF_MON] = "warned of monsters",
    [WARN_UNDEAD] = "warned of undead",
    [SEARCHING] = "searching",
    [CLAIRVOYANT] = "clairvoyance",
    [INFRAVISION] = "infravision",
    [DETECT_MONSTERS] = "monster detection",
    [ADORNED] = "adorned",
    [INVIS] = "invisible",
    [DISPLACED] = "displaced",
    [STEALTH] = "stealth",
    [AGGRAVATE_MONSTER] = "aggravates monsters",
    [CONFLICT] = "conflict",
    [JUMPING] = "jumping",
    [TELEPORT] = "teleportitis",
    [TELEPORT_CONTROL] = "teleport control",
    [LEVITATION] = "levitation",
    [FLYING] = "flying",
    [WWALKING] = "water walking",
    [SWIMMING] = "swimming",
    [MAGICAL_BREATHING] = "magical breathing",
    [PASSES_WALLS] = "passes walls",
    [SLOW_DIGESTION] = "slow digestion",
    [HALF_SPDAM] = "half spell damage",
    [HALF_PHDAM] = "half physical damage",
    [REGENERATION] = "regeneration",
    [ENERGY_REGENERATION] = "energy regeneration",
    [PROTECTION] = "protection",
    [PROT_FROM_SHAPE_CHANGERS] = "protection from shape changers",
    [POLYMORPH] = "polymorphitis",
    [POLYMORPH_CONTROL] = "polymorph control",
    [UNCHANGING] = "unchanging",
    [FAST] = "fast",
    [REFLECTING] = "reflection",
    [FREE_ACTION] = "free action",
    [FIXED_ABIL] = "fixed abilities",
    [LIFESAVED] = "life saving",
};

static const char *yes_no(long value)
{
    return value ? "true" : "false";
}

/* Those that the hero has from anywhere, blocked ones too. */
static void properties(struct sheet *sheet)
{
    int i;

    sheet_say(sheet, ",\"properties\":[");
    sheet->items = 0;
    for (i = 1; i <= LAST_PROP; i++) {
        const struct prop *prop = &u.uprops[i];

        if (!property_names[i] || !(prop->extrinsic | prop->intrinsic))
            continue;
        sheet_item(sheet);
        sheet_say(sheet, "{\"name\":");
        sheet_text(sheet, property_names[i]);
        sheet_say(sheet, ",\"intrinsic\":%s,\"worn\":%s,\"turns\":%ld,\"blocked\":%s}",
                  yes_no(prop->intrinsic & (INTRINSIC | FROMFORM)), yes_no(prop->extrinsic),
                  prop->intrinsic & TIMEOUT, yes_no(prop->blocked));
    }
    sheet_say(sheet, "]");
}

/* Strength, intelligence, wisdom, dexterity, constitution, charisma. */
static void attributes(struct sheet *sheet, const char *name, const struct attribs *from)
{
    int i;

    sheet_say(sheet, ",\"%s\":[", name);
    sheet->items = 0;
    for (i = 0; i < A_MAX; i++) {
        sheet_item(sheet);
        sheet_say(sheet, "%d", (int) from->a[i]);
    }
    sheet_say(sheet, "]");
}

static long carried_gold(void)
{
    const struct obj *obj;
    long gold = 0;
    int count = 0;

    for (obj = invent; obj && count++ < HIDDEN_ITEMS_MAX; obj = obj->nobj)
        if (obj->oclass == COIN_CLASS)
            gold += obj->quan;
    return gold;
}

void hidden_hero(struct sheet *sheet)
{
    sheet_say(sheet, "{\"row\":%d,\"column\":%d,\"dungeon\":%d,\"level\":%d,\"depth\":%d",
              SHOWN_ROW(u.uy), SHOWN_COLUMN(u.ux), (int) u.uz.dnum, (int) u.uz.dlevel,
              (int) depth(&u.uz));
    sheet_say(sheet, ",\"hp\":%d,\"hp_max\":%d,\"energy\":%d,\"energy_max\":%d", u.uhp, u.uhpmax,
              u.uen, u.uenmax);
    sheet_say(sheet, ",\"form\":");
    sheet_text(sheet, Upolyd ? youmonst.data->mname : 0);
    sheet_say(sheet, ",\"form_hp\":%d,\"form_hp_max\":%d,\"form_turns\":%d", u.mh, u.mhmax,
              u.mtimedone);
    sheet_say(sheet, ",\"experience_level\":%d,\"experience\":%ld,\"gold\":%ld", u.ulevel, u.uexp,
              carried_gold());
    sheet_say(sheet, ",\"nutrition\":%d,\"luck\":%d,\"luck_bonus\":%d", u.uhunger, (int) u.uluck,
              (int) u.moreluck);
    sheet_say(sheet, ",\"alignment\":%d,\"alignment_record\":%d", (int) u.ualign.type,
              u.ualign.record);
    sheet_say(sheet, ",\"prayer_timeout\":%d,\"god_anger\":%d", u.ublesscnt, u.ugangr);
    sheet_say(sheet, ",\"swallowed\":%s,\"trapped_turns\":%u", yes_no(u.uswallow), u.utrap);
    attributes(sheet, "attributes", &u.acurr);
    attributes(sheet, "attributes_max", &u.amax);
    properties(sheet);
    sheet_say(sheet, "}");
}
