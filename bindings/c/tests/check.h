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

#define OK(call) expect(__LINE__, (call), WEFT_OK, "")
#define FAILS(call, status, text) expect(__LINE__, (call), (status), (text))
#define HOLDS(what) hold(__LINE__, (what), #what)

#endif
