/* Frames: everything visible, written out for the host. Runs on the host's stack
 * while the game is stopped and changes nothing of it. */
#include "frame.h"

#include "looks.h"

struct writer {
    unsigned char *out;
    size_t capacity, used;
};

static void put(struct writer *writer, const void *bytes, size_t length)
{
    if (writer->used + length <= writer->capacity)
        memcpy(writer->out + writer->used, bytes, length);
    writer->used += length;
}

static void put_text(struct writer *writer, const char *text)
{
    uint16_t length = text ? (uint16_t) strlen(text) : 0;

    put(writer, &length, sizeof length);
    put(writer, text, length);
}

static int stage(void)
{
    if (program_state.gameover || mailbox.reason == YIELD_EXIT)
        return 2;
    return program_state.in_moveloop ? 1 : 0;
}

/* The innermost question, past a count that has not begun. */
static const struct asking *question(void)
{
    const struct asking *asking = asking_innermost();

    if (asking && asking->what == ASKING_COUNT && !asking->count)
        asking = asking->outer;
    return asking;
}

/* The text window that the port opened by itself, for a file: the newest one. */
static const struct WinDesc *own_window(void)
{
    int i;

    for (i = MAXWIN - 1; i >= 0; i--)
        if (wins[i] && wins[i]->active && wins[i]->type == NHW_TEXT)
            return wins[i];
    return 0;
}

static const struct WinDesc *open_window(const struct frame_head *head)
{
    const struct asking *asking = question();

    if (!asking || (head->pending != PENDING_MENU && head->pending != PENDING_WINDOW))
        return 0;
    return asking->window != WIN_ERR ? wins[asking->window] : own_window();
}

/* The number before " of " in the "(1 of 2)" that the port shows below a page. */
static uint16_t current_page(const struct WinDesc *window)
{
    const char *text = window->npages > 1 ? window->morestr : 0;
    uint16_t page = 0;

    if (!text || *text++ != '(')
        return 1;
    for (; *text >= '0' && *text <= '9'; text++)
        page = (uint16_t) (page * 10 + (*text - '0'));
    return page ? page : 1;
}

static void head_of_question(struct frame_head *head)
{
    const struct asking *asking = question();

    if (!asking)
        return;
    head->default_answer = (uint8_t) asking->default_answer;
    head->capacity = (uint16_t) asking->capacity;
}

static void head_of_window(struct frame_head *head)
{
    const struct WinDesc *window = open_window(head);
    const tty_menu_item *entry;

    if (!window)
        return;
    if (head->pending == PENDING_WINDOW) {
        head->flags |= FRAME_HAS_WINDOW;
        if (window->type == NHW_TEXT && question()->window == WIN_ERR)
            head->flags |= FRAME_WINDOW_IN_PARTS;
        head->lines = window->data ? (uint32_t) window->maxrow : 0;
        return;
    }
    head->flags |= FRAME_HAS_MENU;
    head->pick = (uint16_t) window->how;
    head->page = current_page(window);
    head->pages = (uint16_t) (window->npages < 1 ? 1 : window->npages);
    for (entry = window->mlist; entry; entry = entry->next)
        head->entries++;
}

static void fill_head(struct frame_head *head)
{
    int16_t glyphs[ROWNO][COLNO - 1];

    memset(&head->cursor_row, 0, sizeof *head - offsetof(struct frame_head, cursor_row));
    memcpy(head->chars, terminal.chars, sizeof head->chars);
    memcpy(head->colors, terminal.colors, sizeof head->colors);
    memcpy(head->attributes, terminal.attributes, sizeof head->attributes);
    memcpy(glyphs, display.glyphs, sizeof glyphs);
    looks_of_map(glyphs);
    memcpy(head->glyphs, glyphs, sizeof head->glyphs);
    head->cursor_row = (uint8_t) terminal.row;
    head->cursor_column =
        (uint8_t) (terminal.column < TERMINAL_COLUMNS ? terminal.column : TERMINAL_COLUMNS - 1);
    head->pending = (uint8_t) pending_kind();
    head->stage = (uint8_t) stage();
    head->turn = moves;
    if (head->stage == 1) {
        head->flags |= FRAME_HAS_HERO;
        head->hero_row = (uint8_t) (u.uy + 1);
        head->hero_column = (uint8_t) (u.ux - 1);
    }
    if (display.has_status)
        head->flags |= FRAME_HAS_STATUS;
    if (Cmd.num_pad)
        head->flags |= FRAME_NUMBER_PAD;
    if (display.polymorphed)
        head->flags |= FRAME_POLYMORPHED;
    if (messages.truncated)
        head->flags |= FRAME_MESSAGES_TRUNCATED;
    memcpy(head->numbers, display.numbers, sizeof head->numbers);
    head->status_enabled = display.status_enabled;
    head->message_first_id = messages.next_id - messages.count;
    head->messages = messages.count;
    head->items = display.inventory_count;
    head_of_question(head);
    head_of_window(head);
}

/* What has been typed of a text: the port keeps it on its top line, behind the
 * prompt. */
static const char *typed_text(const char *prompt)
{
    size_t length = strlen(prompt);

    if (strncmp(toplines, prompt, length) || toplines[length] != ' ')
        return "";
    return toplines + length + 1;
}

static void put_question(struct writer *writer, const struct frame_head *head)
{
    const struct asking *asking = question();
    const char *prompt = asking && asking->prompt ? asking->prompt : "";
    char count[24];

    put_text(writer, prompt);
    put_text(writer, asking ? asking->answers : 0);
    if (head->pending == PENDING_TEXT || head->pending == PENDING_EXTENDED) {
        put_text(writer, typed_text(prompt));
    } else if (head->pending == PENDING_COUNT || (head->pending == PENDING_MENU && asking_innermost()->count)) {
        Sprintf(count, "%ld", asking_innermost()->count);
        put_text(writer, count);
    } else {
        put_text(writer, 0);
    }
}

static void put_entries(struct writer *writer, const struct WinDesc *window)
{
    const tty_menu_item *entry;
    long page = 0;

    for (entry = window->mlist; entry; entry = entry->next) {
        struct entry_record record;

        while (window->plist && page + 1 < window->npages && entry == window->plist[page + 1])
            page++;
        record.count = entry->count;
        record.accelerator = (uint8_t) entry->selector;
        record.group = (uint8_t) entry->gselector;
        record.selectable = entry->identifier.a_void != 0;
        record.selected = entry->selected != 0;
        record.page = (uint16_t) (page + 1);
        record.length = (uint16_t) strlen(entry->str);
        put(writer, &record, sizeof record);
        put(writer, entry->str, record.length);
    }
}

/* The first byte of a line is its attribute. */
static void put_lines(struct writer *writer, const struct WinDesc *window)
{
    long i;

    for (i = 0; i < window->maxrow; i++)
        put_text(writer, window->data[i] && window->data[i][0] ? window->data[i] + 1 : "");
}

size_t rom_frame(unsigned char *out, size_t capacity)
{
    struct writer writer = { out, capacity, 0 };
    struct frame_head *head = (struct frame_head *) out;
    const struct WinDesc *window;
    int i;

    if (capacity < sizeof *head)
        return sizeof *head;
    fill_head(head);
    writer.used = sizeof *head;
    put_question(&writer, head);
    if (head->flags & FRAME_HAS_STATUS)
        for (i = 0; i < MAXBLSTATS; i++)
            put_text(&writer, display.shown_text[i]);
    put(&writer, messages.bytes, messages.used);
    put(&writer, display.inventory, display.inventory_used);
    window = open_window(head);
    if (head->flags & FRAME_HAS_MENU)
        put_entries(&writer, window);
    if (head->lines)
        put_lines(&writer, window);
    return writer.used;
}
