/* The parts of the calendar that the game takes as omens, where they come from the
 * core seed and not from the clock. */
#include "port.h"
#include "isaac64.h"

extern int nethack_phase_of_the_moon(void), nethack_night(void), nethack_midnight(void);
extern boolean nethack_friday_13th(void);

/* As in struct tm; no real date, since each is drawn by itself. */
struct omens {
    int year, month, day, hour, weekday, yearday;
};

static int fixed_date(void)
{
    return (mailbox.flags & POWER_FIXED_DATE) != 0;
}

static struct omens draw(void)
{
    uint64_t seed = mailbox.seed_core + 1;
    unsigned char bytes[sizeof seed];
    isaac64_ctx generator;
    struct omens omens;

    memcpy(bytes, &seed, sizeof bytes);
    isaac64_init(&generator, bytes, sizeof bytes);
    omens.year = 100 + (int) isaac64_next_uint(&generator, 50);
    omens.month = (int) isaac64_next_uint(&generator, 12);
    omens.day = 1 + (int) isaac64_next_uint(&generator, 28);
    omens.hour = (int) isaac64_next_uint(&generator, 24);
    omens.weekday = (int) isaac64_next_uint(&generator, 7);
    omens.yearday = omens.month * 30 + omens.day;
    return omens;
}

/* Eight phases from the epact, the moon's age on the year's first day. */
int phase_of_the_moon(void)
{
    struct omens omens;
    int golden, epact;

    if (!fixed_date())
        return nethack_phase_of_the_moon();
    omens = draw();
    golden = omens.year % 19 + 1;
    epact = (11 * golden + 18) % 30;
    if (epact == 24 || (epact == 25 && golden > 11))
        epact++;
    return ((omens.yearday + epact) * 6 + 11) % 177 / 22 % 8;
}

boolean friday_13th(void)
{
    struct omens omens;

    if (!fixed_date())
        return nethack_friday_13th();
    omens = draw();
    return omens.weekday == 5 && omens.day == 13;
}

int night(void)
{
    int hour;

    if (!fixed_date())
        return nethack_night();
    hour = draw().hour;
    return hour < 6 || hour > 21;
}

int midnight(void)
{
    return fixed_date() ? draw().hour == 0 : nethack_midnight();
}
