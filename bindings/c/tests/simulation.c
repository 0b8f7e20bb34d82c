// Simulated ranks: messages, pointers that are a rank's own, figures that a seed fixes, failures.

#include "check.h"
#include <weft-sim.h>

// What a rank has to itself.
struct own {
    uint32_t rank, heard;
};

static void hear(weft_message *message, void *user) {
    (void)message, (void)user;
    struct own *own = weft_simulated_kept();
    own->heard++;
}

static bool has_heard(void *user) {
    struct own *own = user;
    return own->heard == 1;
}

// Sends a message to the next rank, and waits for that of the one before.
static int32_t ring(const weft_job *job, void *user) {
    HOLDS(weft_simulated_kept() == NULL && strcmp(user, "user") == 0);
    struct own own = {0};
    HOLDS(weft_simulated_keep(&own) == NULL);
    uint32_t size;
    OK(weft_rank(job, &own.rank));
    OK(weft_size(job, &size));
    HOLDS(size == 8);
    weft_port *port;
    OK(weft_port_create(job, "ring", hear, NULL, &port));
    OK(weft_port_send(port, (own.rank + 1) % size, "hello", 5));
    OK(weft_poll_until(job, has_heard, &own));
    HOLDS(weft_simulated_kept() == &own);
    OK(weft_barrier(job));
    FAILS(weft_leave((weft_job *)job), WEFT_INVALID, "not the caller's");
    OK(weft_port_destroy(port));
    return 0;
}

// Nobody is lost: the losses of a simulated job end it.
static int32_t shrinks(const weft_job *job, void *user) {
    (void)user;
    bool goes_on = true;
    uint32_t rank, size, flags;
    size_t count = 9;
    weft_team *all, *whole;
    OK(weft_goes_on(job, &goes_on));
    HOLDS(!goes_on);
    OK(weft_losses(job, NULL, 0, &count));
    HOLDS(count == 0);
    OK(weft_rank(job, &rank));
    OK(weft_team_all(job, &all));
    OK(weft_team_agree(all, 16 | rank, &flags, NULL, 0, &count));
    HOLDS(flags == 16 && count == 0);
    OK(weft_team_shrink(all, &whole));
    OK(weft_team_size(whole, &size));
    HOLDS(size == 8);
    OK(weft_team_barrier(whole));
    count = 9;
    OK(weft_team_lost(whole, NULL, 0, &count));
    HOLDS(count == 0);
    OK(weft_team_free(whole));
    OK(weft_team_free(all));
    return 0;
}

static int32_t fails(const weft_job *job, void *user) {
    (void)user;
    uint32_t rank;
    OK(weft_rank(job, &rank));
    return rank == 2 ? 7 : 0;
}

static bool never(void *user) {
    (void)user;
    return false;
}

static int32_t waits(const weft_job *job, void *user) {
    (void)user;
    return (int32_t)weft_poll_until(job, never, NULL);
}

int main(void) {
    weft_simulation simulation = {.ranks = 8, .preset = "irx-imc", .loss = 0.1, .seed = 3};
    weft_simulated first, second;
    OK(weft_simulate(&simulation, ring, "user", &first));
    OK(weft_simulate(&simulation, ring, "user", &second));
    HOLDS(weft_simulated_kept() == NULL);
    HOLDS(first.virtual_ns > 0 && first.packets >= 8 && first.faults > 0);
    HOLDS(memcmp(&first, &second, sizeof first) == 0);
    simulation.seed = 4;
    OK(weft_simulate(&simulation, ring, "user", &second));
    HOLDS(first.trace != second.trace);

    OK(weft_simulate(&simulation, shrinks, NULL, NULL));
    FAILS(weft_simulate(&simulation, fails, NULL, NULL), WEFT_ABANDONED, "rank 2");
    FAILS(weft_simulate(&simulation, waits, NULL, &second), WEFT_WAITS_FOR_ITSELF, "8 ranks wait");
    simulation.preset = "nrx-imc";
    FAILS(weft_simulate(&simulation, ring, NULL, NULL), WEFT_BAD_OPTION, "lose nothing");
    simulation.preset = "none";
    FAILS(weft_simulate(&simulation, ring, NULL, NULL), WEFT_BAD_OPTION, "none");
    simulation = (weft_simulation){.ranks = 1, .machine = "none"};
    FAILS(weft_simulate(&simulation, ring, NULL, NULL), WEFT_BAD_OPTION, "none");
    simulation = (weft_simulation){.ranks = 70000};
    FAILS(weft_simulate(&simulation, ring, NULL, NULL), WEFT_BAD_OPTION, "70000");
    simulation.ranks = 1;
    FAILS(weft_simulate(NULL, ring, NULL, NULL), WEFT_INVALID, "null");
    FAILS(weft_simulate(&simulation, NULL, NULL, NULL), WEFT_INVALID, "null");
    puts("simulated");
    return 0;
}
