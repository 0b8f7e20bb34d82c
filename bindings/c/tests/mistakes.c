// Programs that do what none should, each with a name: what the library and weft run say of them.

#include "check.h"
#include <weft-sim.h>

static weft_job *job;

static bool
never(void *user)
{
    (void)user;
    return false;
}

static int32_t
nothing(const weft_job *simulated, void *user)
{
    (void)simulated;
    (void)user;
    return 0;
}

// All ranks wait for a callback that nobody runs.
static void
waits_in_vain(void)
{
    OK(weft_join(&job));
    OK(weft_poll_until(job, never, NULL));
}

static void
waits_in_vain_for_packets(void)
{
    OK(weft_join_packets(&job));
    OK(weft_poll_until(job, never, NULL));
}

static void
returns(void)
{
    OK(weft_join(&job));
    OK(weft_barrier(job));
}

// A barrier for some, where others leave.
static void
leaves(void)
{
    uint32_t rank;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    weft_status status = rank == 1 ? weft_barrier(job) : weft_leave(job);
    fprintf(stderr, "rank %u: %s: %s\n", rank, weft_status_name(status), weft_error_text());
}

static void
simulates(void)
{
    const weft_simulation simulation = { .ranks = 4, .preset = "irx" };
    weft_status status = weft_simulate(&simulation, nothing, NULL, NULL);

    fprintf(stderr, "%s: %s\n", weft_status_name(status), weft_error_text());
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    { "waits-in-vain", waits_in_vain },
    { "waits-in-vain-for-packets", waits_in_vain_for_packets },
    { "returns", returns },
    { "leaves", leaves },
    { "simulates", simulates },
};

int
main(int count, char **words)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        if (count > 1 && strcmp(words[1], mistakes[i].name) == 0)
            mistakes[i].make();
    return 0;
}
