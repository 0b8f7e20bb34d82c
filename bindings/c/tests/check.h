// What tests in C say: that a call succeeds, that it fails in one way, that something holds.

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

static inline void
expect(int line, weft_status got, weft_status expected, const char *text)
{
    if (got == expected && strstr(weft_error_text(), text) != NULL)
        return;
    fprintf(stderr, "line %d: %s (%s), expected %s (%s)\n", line, weft_status_name(got),
            weft_error_text(), weft_status_name(expected), text);
    exit(1);
}

static inline void
hold(int line, bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: not %s\n", line, what);
    exit(1);
}

struct sought {
    const char *name;
    uint64_t value;
    bool found;
};

static inline void
seek(const weft_statistic *statistic, void *user)
{
    struct sought *sought = user;

    if (strcmp(statistic->name, sought->name) == 0) {
        sought->value = statistic->value;
        sought->found = true;
    }
}

// A counter of this rank.
static inline uint64_t
counter(int line, const weft_job *job, const char *name)
{
    struct sought sought = { name, 0, false };

    expect(line, weft_statistics_each(job, seek, &sought), WEFT_OK, "");
    hold(line, sought.found, name);
    return sought.value;
}

#define OK(call) expect(__LINE__, (call), WEFT_OK, "")
#define FAILS(call, status, text) expect(__LINE__, (call), (status), (text))
#define COUNTER(job, name) counter(__LINE__, (job), (name))
#define HOLDS(what) hold(__LINE__, (what), #what)

#endif
