/* The level under the map, for hidden.c. */
#include "hidden.h"

/* One character for each kind of terrain. Keep crates/mcp/src/hidden.rs in step. */
static const char terrain[] = " |-------" /* stone, walls, corners, crossings */
                              "-|||"
                              "TSH}~WUL" /* tree, secret door and corridor, pool, moat, water,
                                            raised drawbridge, lava */
                              "I+#.>="    /* bars, door, corridor, room, stairs, ladder */
                              "{\\KG_iDAC"; /* fountain, throne, sink, grave, altar, ice, lowered
                                               drawbridge, air, cloud */

_Static_assert(sizeof terrain - 1 == MAX_TYPE, "one for each kind of terrain");

static void rows(struct sheet *sheet)
{
    char row[COLNO];
    int x, y;

    sheet_say(sheet, ",\"rows\":[");
    sheet->items = 0;
    for (y = 0; y < ROWNO; y++) {
        for (x = 1; x < COLNO; x++) {
            const struct rm *here = &levl[x][y];
            int typ = here->typ >= 0 && here->typ < MAX_TYPE ? here->typ : STONE;

            row[x - 1] = terrain[typ];
            if (typ == STAIRS && (here->ladder & LA_UP))
                row[x - 1] = '<';
        }
        row[COLNO - 1] = '\0';
        sheet_item(sheet);
        sheet_text(sheet, row);
    }
    sheet_say(sheet, "]");
}

static const char *door_state(const struct rm *here)
{
    if (here->typ == SDOOR)
        return here->doormask & D_LOCKED ? "locked" : "closed";
    if (here->doormask & D_LOCKED)
        return "locked";
    if (here->doormask & D_CLOSED)
        return "closed";
    if (here->doormask & D_ISOPEN)
        return "open";
    return here->doormask & D_BROKEN ? "broken" : "none";
}

static void doors_of_level(struct sheet *sheet)
{
    int x, y;

    sheet_say(sheet, ",\"doors\":[");
    sheet->items = 0;
    for (y = 0; y < ROWNO; y++)
        for (x = 1; x < COLNO; x++) {
            const struct rm *here = &levl[x][y];

            if (here->typ != DOOR && here->typ != SDOOR)
                continue;
            sheet_item(sheet);
            sheet_say(sheet,
                      "{\"row\":%d,\"column\":%d,\"state\":\"%s\",\"secret\":%s,\"trapped\":%s}",
                      SHOWN_ROW(y), SHOWN_COLUMN(x), door_state(here),
                      here->typ == SDOOR ? "true" : "false",
                      here->doormask & D_TRAPPED ? "true" : "false");
        }
    sheet_say(sheet, "]");
}

static void traps(struct sheet *sheet)
{
    const struct trap *trap;

    sheet_say(sheet, ",\"traps\":[");
    sheet->items = 0;
    for (trap = ftrap; trap && sheet->items < HIDDEN_ITEMS_MAX; trap = trap->ntrap) {
        sheet_item(sheet);
        sheet_say(sheet, "{\"row\":%d,\"column\":%d,\"kind\":", SHOWN_ROW(trap->ty),
                  SHOWN_COLUMN(trap->tx));
        sheet_text(sheet, trap->ttyp > NO_TRAP && trap->ttyp < TRAPNUM
                              ? defsyms[trap_to_defsym(trap->ttyp)].explanation
                              : "unknown");
        sheet_say(sheet, ",\"seen\":%s}", trap->tseen ? "true" : "false");
    }
    sheet_say(sheet, "]");
}

static void stairs_at(struct sheet *sheet, int x, int y, const char *kind, int dungeon, int to)
{
    if (!x)
        return;
    sheet_item(sheet);
    sheet_say(sheet, "{\"row\":%d,\"column\":%d,\"kind\":\"%s\",\"to_dungeon\":%d,\"to_level\":%d}",
              SHOWN_ROW(y), SHOWN_COLUMN(x), kind, dungeon, to);
}

static void stairs(struct sheet *sheet)
{
    int here = u.uz.dnum, level_here = u.uz.dlevel;

    sheet_say(sheet, ",\"stairs\":[");
    sheet->items = 0;
    stairs_at(sheet, xupstair, yupstair, "stairs up", here, level_here - 1);
    stairs_at(sheet, xdnstair, ydnstair, "stairs down", here, level_here + 1);
    stairs_at(sheet, xupladder, yupladder, "ladder up", here, level_here - 1);
    stairs_at(sheet, xdnladder, ydnladder, "ladder down", here, level_here + 1);
    stairs_at(sheet, sstairs.sx, sstairs.sy, sstairs.up ? "branch up" : "branch down",
              sstairs.tolev.dnum, sstairs.tolev.dlevel);
    sheet_say(sheet, "]");
}

static const char *room_kind(int type)
{
    static const char *const kinds[] = {
        [OROOM] = "ordinary", [COURT] = "throne room", [SWAMP] = "swamp", [VAULT] = "vault",
        [BEEHIVE] = "beehive", [MORGUE] = "graveyard", [BARRACKS] = "barracks", [ZOO] = "zoo",
        [DELPHI] = "Delphi", [TEMPLE] = "temple", [LEPREHALL] = "leprechaun hall",
        [COCKNEST] = "cockatrice nest", [ANTHOLE] = "anthole",
    };

    if (type >= SHOPBASE)
        return "shop";
    return type >= 0 && type < SIZE(kinds) && kinds[type] ? kinds[type] : "unknown";
}

/* Ordinary rooms first, then those within others. */
static void rooms_of_level(struct sheet *sheet)
{
    int half, i;

    sheet_say(sheet, ",\"rooms\":[");
    sheet->items = 0;
    for (half = 0; half < 2; half++)
        for (i = 0; i < MAXNROFROOMS; i++) {
            const struct mkroom *room = half ? &subrooms[i] : &rooms[i];

            if (room->hx < 0)
                break;
            sheet_item(sheet);
            sheet_say(sheet, "{\"top\":%d,\"left\":%d,\"bottom\":%d,\"right\":%d,\"kind\":\"%s\",\"lit\":%s}",
                      SHOWN_ROW(room->ly), SHOWN_COLUMN(room->lx), SHOWN_ROW(room->hy),
                      SHOWN_COLUMN(room->hx), room_kind(room->rtype), room->rlit ? "true" : "false");
        }
    sheet_say(sheet, "]");
}

static void dungeons_of_game(struct sheet *sheet)
{
    int i;

    sheet_say(sheet, ",\"dungeons\":[");
    sheet->items = 0;
    for (i = 0; i < MAXDUNGEON && dungeons[i].num_dunlevs; i++) {
        sheet_item(sheet);
        sheet_say(sheet, "{\"dungeon\":%d,\"name\":", i);
        sheet_text(sheet, dungeons[i].dname);
        sheet_say(sheet, ",\"levels\":%d,\"first_depth\":%d}", (int) dungeons[i].num_dunlevs,
                  (int) dungeons[i].depth_start);
    }
    sheet_say(sheet, "]");
}

void hidden_level(struct sheet *sheet)
{
    sheet_say(sheet, "{\"dungeon\":%d,\"level\":%d,\"depth\":%d", (int) u.uz.dnum,
              (int) u.uz.dlevel, (int) depth(&u.uz));
    sheet_say(sheet, ",\"no_teleport\":%s,\"hard_floor\":%s",
              level.flags.noteleport ? "true" : "false",
              level.flags.hardfloor ? "true" : "false");
    rows(sheet);
    doors_of_level(sheet);
    traps(sheet);
    stairs(sheet);
    rooms_of_level(sheet);
    dungeons_of_game(sheet);
    sheet_say(sheet, "}");
}
