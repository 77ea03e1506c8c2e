/* Every message of the game since the last key, whole and in order. */
#include "port.h"

struct messages messages;

struct record {
    int64_t turn;
    uint16_t length;
    uint8_t shown;
} __attribute__((packed));

void messages_power_on(void)
{
    messages.next_id = 1;
}

void messages_forget(void)
{
    messages.count = messages.used = 0;
    messages.truncated = 0;
}

void messages_add(const char *text, int shown)
{
    struct record record = { moves, (uint16_t) strlen(text), (uint8_t) shown };

    if (messages.used + sizeof record + record.length > sizeof messages.bytes) {
        messages_forget();
        messages.truncated = 1;
    }
    memcpy(&messages.bytes[messages.used], &record, sizeof record);
    memcpy(&messages.bytes[messages.used + sizeof record], text, record.length);
    messages.used += sizeof record + record.length;
    messages.count++;
    messages.next_id++;
}

/* What is being put: told once it is known whether the screen gets it. */
static const char *put;

void messages_begin(const char *text)
{
    put = text;
}

void messages_end(void)
{
    if (put)
        messages_add(put, !(wins[WIN_MESSAGE]->flags & WIN_STOP));
    put = 0;
}

/* A --More-- that comes while a message is put is about the one before, and ESC there
 * keeps this one from the screen; but one of several lines asks for itself. */
void messages_at_more(void)
{
    if (put && wins[WIN_MESSAGE]->cury)
        messages_end();
}
