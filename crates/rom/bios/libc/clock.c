/* Time: it stands still at the power-on record's clock, and the zone is UTC. */
#include <limits.h>

#include "bios.h"
#include "libc.h"

#define DAY_SECONDS 86400

/* The Gregorian calendar repeats after 400 years. Counting years from 1 March puts
 * the leap day last, so that a day's place in its year says the month. */
#define ERA_YEARS 400
#define ERA_DAYS 146097
#define EPOCH_DAYS 719468 /* from 0000-03-01 to 1970-01-01 */

int64_t time(int64_t *now)
{
    if (now)
        *now = mailbox.clock;
    return mailbox.clock;
}

static int64_t divide_down(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

/* 0..divisor-1, where the dividend times anything might not fit. */
static int remainder_down(int64_t dividend, int divisor)
{
    int remainder = (int)(dividend % divisor);

    return remainder < 0 ? remainder + divisor : remainder;
}

/* Days from 1970-01-01 to the first of a month, 0..11, of a year. */
static int64_t days_before(int64_t year, int month)
{
    int64_t march_year = month < 2 ? year - 1 : year;
    int march_month = month < 2 ? month + 10 : month - 2;
    int64_t era = divide_down(march_year, ERA_YEARS);
    int64_t in_era = march_year - era * ERA_YEARS;
    int64_t days = in_era * 365 + in_era / 4 - in_era / 100 + (153 * march_month + 2) / 5;

    return era * ERA_DAYS + days - EPOCH_DAYS;
}

/* Fills date from a count of days and the seconds into the day; 0 when the year is
 * beyond the field. */
static int fill(struct abi_tm *date, int64_t days, int second)
{
    int64_t from_march = days + EPOCH_DAYS;
    int64_t era = divide_down(from_march, ERA_DAYS);
    int64_t in_era = from_march - era * ERA_DAYS;
    int64_t era_year
        = (in_era - in_era / 1460 + in_era / 36524 - in_era / (ERA_DAYS - 1)) / 365;
    int64_t in_year = in_era - (era_year * 365 + era_year / 4 - era_year / 100);
    int march_month = (int)((5 * in_year + 2) / 153);
    int month = march_month < 10 ? march_month + 2 : march_month - 10;
    int64_t year = era * ERA_YEARS + era_year + (month < 2);

    if (year - 1900 < INT_MIN || year - 1900 > INT_MAX)
        return 0;
    *date = (struct abi_tm){
        .second = second % 60,
        .minute = second / 60 % 60,
        .hour = second / 3600,
        .day = (int)in_year - (153 * march_month + 2) / 5 + 1,
        .month = month,
        .year = (int)(year - 1900),
        .weekday = remainder_down(days + 4, 7),
        .yearday = (int)(days - days_before(year, 0)),
        .zone = "UTC",
    };
    return 1;
}

struct abi_tm *localtime(const int64_t *seconds)
{
    static struct abi_tm date;
    int64_t days = divide_down(*seconds, DAY_SECONDS);

    if (!fill(&date, days, remainder_down(*seconds, DAY_SECONDS))) {
        error_set(ABI_EOVERFLOW);
        return NULL;
    }
    return &date;
}

/* Takes fields out of their ranges too, and puts them right. */
int64_t mktime(struct abi_tm *date)
{
    int64_t years = divide_down(date->month, 12);
    int month = remainder_down(date->month, 12);
    int64_t days = days_before(1900 + (int64_t)date->year + years, month) + date->day - 1;
    int64_t seconds = days * DAY_SECONDS + (int64_t)date->hour * 3600
        + (int64_t)date->minute * 60 + date->second;

    days = divide_down(seconds, DAY_SECONDS);
    if (!fill(date, days, remainder_down(seconds, DAY_SECONDS)))
        return error_set(ABI_EOVERFLOW);
    return seconds;
}
