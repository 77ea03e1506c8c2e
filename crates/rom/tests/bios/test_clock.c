/* Time against glibc's in UTC. */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

_Static_assert(sizeof(struct abi_tm) == sizeof(struct tm), "abi.c holds the fields");

static void same_date(const char *call, int64_t seconds, const void *our, const struct tm *their)
{
    struct tm date;

    memcpy(&date, our, sizeof date);
    CHECK(date.tm_sec == their->tm_sec && date.tm_min == their->tm_min && date.tm_hour == their->tm_hour
              && date.tm_mday == their->tm_mday && date.tm_mon == their->tm_mon && date.tm_year == their->tm_year
              && date.tm_wday == their->tm_wday && date.tm_yday == their->tm_yday && date.tm_isdst == 0
              && date.tm_gmtoff == 0 && !strcmp(date.tm_zone, "UTC"),
          "%s of %lld: %d-%d-%d %d:%d:%d, weekday %d, yearday %d", call, (long long)seconds, date.tm_year,
          date.tm_mon, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, date.tm_wday, date.tm_yday);
}

static void compare_localtime(int64_t seconds)
{
    time_t theirs = seconds;
    const struct abi_tm *our;
    const struct tm *their;

    lab_errno = errno = 0;
    our = lab_localtime(&seconds);
    their = localtime(&theirs);
    CHECK(!our == !their, "localtime of %lld: %p, glibc %p", (long long)seconds, (void *)our, (void *)their);
    CHECK(lab_errno == errno, "localtime of %lld: errno %d, glibc %d", (long long)seconds, lab_errno, errno);
    if (our)
        same_date("localtime", seconds, our, their);
}

static void compare_mktime(struct tm date)
{
    struct abi_tm our;
    int64_t our_seconds;
    time_t their_seconds;

    memcpy(&our, &date, sizeof our);
    lab_errno = errno = 0;
    our_seconds = lab_mktime(&our);
    their_seconds = mktime(&date);
    CHECK(our_seconds == their_seconds && lab_errno == errno, "mktime: %lld, errno %d; glibc %lld, errno %d",
          (long long)our_seconds, lab_errno, (long long)their_seconds, errno);
    if (!errno)
        same_date("mktime", our_seconds, &our, &date);
}

static struct tm random_date(void)
{
    int wild = !below(4);

    return (struct tm){
        .tm_sec = wild ? (int)random_word() : between(-70, 130),
        .tm_min = wild ? (int)random_word() : between(-70, 130),
        .tm_hour = wild ? (int)random_word() : between(-30, 60),
        .tm_mday = wild ? (int)random_word() : between(-40, 70),
        .tm_mon = wild ? (int)random_word() : between(-15, 30),
        .tm_year = wild ? (int)random_word() : between(-2000, 3000),
        .tm_isdst = between(-1, 0),
    };
}

void suite_clock(void)
{
    static const int64_t edges[] = {0, -1, 86399, 86400, 951782400, 4107542399, 67768036191676799,
        -67768040609740800, INT64_MAX, INT64_MIN};

    setenv("TZ", "UTC", 1);
    tzset();
    mailbox.clock = 1583064000;
    CHECK(lab_time(NULL) == 1583064000, "time");
    int64_t now = 0;
    CHECK(lab_time(&now) == now && now == 1583064000, "time");
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int64_t step = -2; step <= 2; step++)
            compare_localtime((int64_t)((uint64_t)edges[i] + (uint64_t)step));
    /* Every day of five centuries, at some second of it. */
    for (int64_t day = -100000; day < 100000; day++)
        compare_localtime(day * 86400 + below(86400));
    for (int i = 0; i < 300000; i++) {
        int64_t magnitude = (int64_t)(random_magnitude() >> 1);
        compare_localtime(below(2) ? magnitude : -magnitude);
        compare_mktime(random_date());
    }
}
