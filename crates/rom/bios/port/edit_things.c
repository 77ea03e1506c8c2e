/* Edits of the hero's numbers, of objects and of monsters, for edit.c. */
#include "edit.h"

#define WISH_BYTES_MAX 200

struct field {
    const char *name;
    long least, most;
    int (*set)(long);
};

static int set_experience_level(long value)
{
    while (u.ulevel < value)
        pluslvl(FALSE);
    while (u.ulevel > value)
        losexp("#levelchange"); /* the name that is never fatal or resisted */
    return 1;
}

static int set_hp_max(long value)
{
    int *most = Upolyd ? &u.mhmax : &u.uhpmax, *now = Upolyd ? &u.mh : &u.uhp;

    *most = (int) value;
    if (*now > *most)
        *now = *most;
    return 1;
}

static int set_hp(long value)
{
    if (value > (Upolyd ? u.mhmax : u.uhpmax))
        return edit_refuse("hp is at most hp_max, %d", Upolyd ? u.mhmax : u.uhpmax);
    *(Upolyd ? &u.mh : &u.uhp) = (int) value;
    return 1;
}

static int set_energy_max(long value)
{
    u.uenmax = (int) value;
    if (u.uen > u.uenmax)
        u.uen = u.uenmax;
    return 1;
}

static int set_energy(long value)
{
    if (value > u.uenmax)
        return edit_refuse("energy is at most energy_max, %d", u.uenmax);
    u.uen = (int) value;
    return 1;
}

static int set_nutrition(long value)
{
    u.uhunger = (int) value;
    newuhs(FALSE);
    return 1;
}

static int set_luck(long value)
{
    u.uluck = (schar) value;
    return 1;
}

static int set_prayer_timeout(long value)
{
    u.ublesscnt = (int) value;
    return 1;
}

static int set_alignment_record(long value)
{
    u.ualign.record = (int) value;
    return 1;
}

/* The hero's gold is one object, or none. */
static int set_gold(long value)
{
    struct obj *gold = carrying(GOLD_PIECE);

    if (!gold && !value)
        return 1;
    if (!gold) {
        gold = mksobj(GOLD_PIECE, FALSE, FALSE);
        gold->quan = value;
        gold->owt = weight(gold);
        gold = addinv(gold);
    } else if (!value) {
        useupall(gold);
    } else {
        gold->quan = value;
        gold->owt = weight(gold);
    }
    if (money_cnt(invent) != value)
        return edit_refuse("the hero has several stacks of gold");
    update_inventory();
    (void) encumber_msg();
    return 1;
}

int edit_set(const char *words)
{
    /* In the order in which they must be set. Keep crates/wire/src/edit.rs in step. */
    static const struct field fields[] = {
        { "experience_level", 1, MAXULEV, set_experience_level },
        { "hp_max", 1, 9999, set_hp_max },
        { "hp", 1, 9999, set_hp },
        { "energy_max", 0, 9999, set_energy_max },
        { "energy", 0, 9999, set_energy },
        { "nutrition", 1, 5000, set_nutrition },
        { "luck", -10, 10, set_luck },
        { "prayer_timeout", 0, 100000, set_prayer_timeout },
        { "alignment_record", -10000, 10000, set_alignment_record },
        { "gold", 0, 1000000, set_gold },
    };
    int i, done = 0;

    for (i = 0; i < SIZE(fields); i++) {
        long value;

        if (!edit_word(&words, fields[i].name))
            continue;
        if (!edit_number(&words, &value))
            return edit_refuse("%s needs a number", fields[i].name);
        if (value < fields[i].least || value > fields[i].most)
            return edit_refuse("%s goes from %ld to %ld", fields[i].name, fields[i].least,
                               fields[i].most);
        if (!fields[i].set(value))
            return 0;
        done = 1;
    }
    if (*words || !done)
        return edit_refuse("what is set are numbers of the hero, each once and in their order");
    return 1;
}

/* ---- objects ---- */

/* As a wish in debug mode, which is granted whatever it is; no terrain, no traps. */
static struct obj *wished(const char *text)
{
    static struct obj nothing;
    char words[BUFSZ];
    struct obj *obj;
    boolean debug_before = flags.debug;
    int kit_before = program_state.wizkit_wishing;

    Strcpy(words, text);
    (void) mungspaces(words);
    flags.debug = TRUE;
    program_state.wizkit_wishing = 1;
    obj = readobjnam(words, &nothing);
    flags.debug = debug_before;
    program_state.wizkit_wishing = kit_before;
    return obj == &nothing || obj == &zeroobj ? 0 : obj;
}

static int give(struct obj *obj)
{
    long quantity = obj->quan;
    struct obj *held = hold_another_object(obj, "%s", "It can't be held.", (char *) 0);

    if (!held || held->where != OBJ_INVENT || held->quan < quantity)
        return edit_refuse("the hero can't hold it");
    return 1;
}

static int lay(struct obj *obj, int x, int y)
{
    if (IS_ROCK(levl[x][y].typ) || closed_door(x, y))
        return edit_refuse("nothing can lie there");
    if (obj->otyp == BOULDER && sobj_at(BOULDER, x, y))
        return edit_refuse("a boulder is there");
    place_object(obj, x, y);
    if (obj->otyp == BOULDER)
        block_point(x, y);
    stackobj(obj);
    newsym(x, y);
    return 1;
}

int edit_item(const char *words)
{
    struct obj *obj;
    int x = 0, y = 0, held = edit_word(&words, "inventory");

    if (!held && !edit_word(&words, "floor"))
        return edit_refuse("an item comes into the inventory or on the floor");
    if (!held && !edit_place(&words, &x, &y))
        return 0;
    if (!*words || strlen(words) > WISH_BYTES_MAX)
        return edit_refuse("an item is told by 1 to %d characters", WISH_BYTES_MAX);
    obj = wished(words);
    if (!obj)
        return edit_refuse("there is no such item");
    return held ? give(obj) : lay(obj, x, y);
}

/* ---- monsters ---- */

static int monster_named(const char *name)
{
    int kind;

    for (kind = LOW_PM; kind < NUMMONS; kind++)
        if (!strcmpi(mons[kind].mname, name))
            return kind;
    return NON_PM;
}

enum mood { NATURAL, HOSTILE, PEACEFUL, TAME, ASLEEP };

static int monster_mood(const char **words)
{
    static const char *const moods[] = { "natural", "hostile", "peaceful", "tame", "asleep" };
    int mood;

    for (mood = 0; mood < SIZE(moods); mood++)
        if (edit_word(words, moods[mood]))
            return mood;
    return -1;
}

static int put_in_mood(struct monst *mtmp, int mood)
{
    if (mood == TAME) {
        (void) tamedog(mtmp, (struct obj *) 0);
        if (!mtmp->mtame)
            return edit_refuse("that monster can't be tamed");
    } else if (mood == HOSTILE || mood == PEACEFUL) {
        mtmp->mtame = 0;
        mtmp->mpeaceful = mood == PEACEFUL;
        set_malign(mtmp);
    } else if (mood == ASLEEP) {
        mtmp->msleeping = 1;
    }
    return 1;
}

/* None that is one of a kind or has a post: what they need comes with their level. */
int edit_monster(const char *words)
{
    struct monst *mtmp, probe;
    int x, y, mood, kind, stand_in;

    if (!edit_place(&words, &x, &y))
        return 0;
    mood = monster_mood(&words);
    kind = mood < 0 ? NON_PM : monster_named(words);
    if (kind == NON_PM)
        return edit_refuse(mood < 0 ? "there is no such mood" : "there is no such monster");
    stand_in = kind;
    if (cant_revive(&stand_in, FALSE, (struct obj *) 0))
        return edit_refuse("that monster is one of a kind, or has a post");
    if (mvitals[kind].mvflags & G_GENOD)
        return edit_refuse("that monster is wiped out");
    probe = zeromonst;
    probe.data = &mons[kind];
    if (!goodpos(x, y, &probe, 0))
        return edit_refuse("that monster can't stand there");
    mtmp = makemon(&mons[kind], x, y, NO_MM_FLAGS);
    if (!mtmp)
        return edit_refuse("the game makes no such monster there");
    if (!put_in_mood(mtmp, mood))
        return 0;
    newsym(mtmp->mx, mtmp->my);
    return 1;
}
