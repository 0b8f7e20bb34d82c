// Counters of teams: additions, moves, and each mistake. tests/losses.c loses a member of one.

#include "check.h"

enum { RANKS = 3, ADDITIONS = 100 };

static uint32_t me;

static void
adds_up(const weft_team *all, weft_counter *one)
{
    uint64_t before = 0, value, i;

    for (i = 0; i < ADDITIONS; i++) {
        OK(weft_counter_add(one, 2, &value));
        HOLDS(value >= before && value % 2 == 0);
        before = value + 2;
    }
    OK(weft_counter_add(one, 0, NULL));
    OK(weft_team_barrier(all));
    OK(weft_counter_add(one, 0, &value));
    HOLDS(value == 2 * RANKS * ADDITIONS);
    OK(weft_team_barrier(all));
}

// A team without rank 0, whose counter moves to all, of which rank 0 joins.
static void
moves(const weft_team *all)
{
    weft_team *part;
    weft_counter *counter;
    uint64_t value;

    OK(weft_team_split(all, me == 0 ? WEFT_NO_COLOUR : 1, 0, &part));
    if (me == 0) {
        OK(weft_counter_join(all, &counter));
    } else {
        OK(weft_counter_create(part, &counter));
        OK(weft_counter_add(counter, 7, NULL));
        OK(weft_counter_move(counter, all));
        OK(weft_team_free(part));
    }
    OK(weft_team_barrier(all));
    OK(weft_counter_add(counter, 0, &value));
    HOLDS(value == 14);
    OK(weft_team_barrier(all));
    OK(weft_counter_free(counter));
}

// Mistakes that all members hear of. The counter is where it was.
static void
do_not_bring_the_same(const weft_team *all, weft_counter *one, weft_counter *other)
{
    static const char differ[] =
        "the members of this team do not bring the same counter: all of them create one, or all "
        "that have it move it and only the others join it";
    weft_team *part;
    weft_counter *counter;

    FAILS(weft_counter_move(me == 1 ? one : other, all), WEFT_CALLS_DIFFER, differ);
    FAILS(weft_counter_join(all, &counter), WEFT_CALLS_DIFFER, differ);
    OK(weft_team_split(all, me == 0 ? WEFT_NO_COLOUR : 1, 0, &part));
    if (me != 0) {
        FAILS(weft_counter_move(one, part), WEFT_INVALID,
              "rank 0 shares this counter, is not lost, and is no member of the team that it is to "
              "move to");
        OK(weft_team_free(part));
    }
    OK(weft_counter_move(other, all));
}

// A mistake that this rank finds by itself takes no part in anything.
static void
mistakes(const weft_job *job, const weft_team *all, weft_counter *one)
{
    weft_counter *counter;

    FAILS(weft_counter_create(NULL, &counter), WEFT_INVALID, "team is null");
    FAILS(weft_counter_create(all, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_counter_join(NULL, &counter), WEFT_INVALID, "team is null");
    FAILS(weft_counter_join(all, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_counter_add(NULL, 1, NULL), WEFT_INVALID, "counter is null");
    FAILS(weft_counter_add((const weft_counter *)(const void *)all, 1, NULL), WEFT_INVALID,
          "this is no counter");
    FAILS(weft_counter_move(NULL, all), WEFT_INVALID, "counter is null");
    FAILS(weft_counter_move(one, NULL), WEFT_INVALID, "team is null");
    FAILS(weft_counter_move(one, (const weft_team *)(const void *)job), WEFT_INVALID,
          "this is no team");
    FAILS(weft_counter_free(NULL), WEFT_INVALID, "counter is null");
}

int
main(void)
{
    weft_job *job;
    weft_team *all;
    weft_counter *one, *other;

    OK(weft_join(&job));
    OK(weft_rank(job, &me));
    OK(weft_team_all(job, &all));
    OK(weft_counter_create(all, &one));
    OK(weft_counter_create(all, &other));
    adds_up(all, one);
    moves(all);
    do_not_bring_the_same(all, one, other);
    mistakes(job, all, one);
    adds_up(all, other);
    OK(weft_counter_free(other));
    OK(weft_counter_free(one));
    OK(weft_team_free(all));
    OK(weft_leave(job));
    return 0;
}
