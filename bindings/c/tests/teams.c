// Operations with lengths that members choose, scans, reductions by functions, operations that are
// started again, and teams that are split: blocking and begun, each with a mistake. In a job that
// ends with a loss, teams agree and shrink, too.

#include "check.h"

enum { MEMBERS = 3, MOST = 40000 };

// What a member brings to another: a number of values that differs from pair to pair.
static const size_t counts_of[MEMBERS][MEMBERS] = { { 2, 0, 5 }, { 1, 3, 0 }, { 20000, 7, 1 } };

static weft_team *all;
static uint32_t me;

static uint64_t
value(uint32_t from, uint32_t to, size_t place)
{
    return from * 1000000 + to * 100000 + place;
}

// The values of a member for another. Returns their end.
static uint64_t *
fill(uint64_t *values, uint32_t from, uint32_t to)
{
    size_t i;

    for (i = 0; i < counts_of[from][to]; i++)
        *values++ = value(from, to, i);
    return values;
}

// All values of this member, for member 0 first.
static void
fill_all(uint64_t *values)
{
    uint32_t to;

    for (to = 0; to < MEMBERS; to++)
        values = fill(values, me, to);
}

// Values of all members for one, and how many they brought.
static bool
are_all(const uint64_t *values, const size_t *counts, uint32_t to)
{
    uint32_t from;
    size_t i;

    for (from = 0; from < MEMBERS; from++) {
        if (counts[from] != counts_of[from][to])
            return false;
        for (i = 0; i < counts[from]; i++)
            if (*values++ != value(from, to, i))
                return false;
    }
    return true;
}

static bool
is_part(const uint64_t *values, size_t count, uint32_t from)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (values[i] != value(from, me, i))
            return false;
    return count == counts_of[from][me];
}

static void
varied(void)
{
    static uint64_t mine[MOST], given[MOST];
    size_t counts[MEMBERS] = { 0 }, count = 99;

    fill(mine, me, 0);
    OK(weft_gatherv(all, 1, mine, counts_of[me][0], WEFT_U64, given, MOST, counts));
    HOLDS(me != 1 || are_all(given, counts, 0));
    memset(given, 0, sizeof given);
    OK(weft_all_gatherv(all, mine, counts_of[me][0], WEFT_U64, given, MOST, counts));
    HOLDS(are_all(given, counts, 0));
    fill_all(mine);
    OK(weft_all_to_allv(all, mine, counts_of[me], WEFT_U64, given, MOST, counts));
    HOLDS(are_all(given, counts, me));
    OK(weft_scatterv(all, 2, me == 2 ? mine : NULL, me == 2 ? counts_of[2] : NULL, WEFT_U64, given,
                     MOST, &count));
    HOLDS(is_part(given, count, 2));
    // Nobody has to know the numbers.
    OK(weft_scatterv(all, 0, mine, counts_of[0], WEFT_U64, given, MOST, NULL));
}

static void
varied_begun(void)
{
    static uint64_t mine[MOST], given[MOST];
    weft_pending *pending[4];
    size_t counts[MEMBERS] = { 0 }, count = 99;

    fill_all(mine);
    OK(weft_all_to_allv_begin(all, mine, counts_of[me], WEFT_U64, &pending[0]));
    OK(weft_scatterv_begin(all, 0, mine, counts_of[0], WEFT_U64, &pending[1]));
    fill(mine, me, 0);
    OK(weft_all_gatherv_begin(all, mine, counts_of[me][0], WEFT_U64, &pending[2]));
    OK(weft_gatherv_begin(all, 2, mine, counts_of[me][0], WEFT_U64, &pending[3]));
    memset(mine, 0, sizeof mine);
    OK(weft_pending_finishv(pending[3], given, MOST, counts));
    HOLDS(me != 2 || are_all(given, counts, 0));
    OK(weft_pending_finishv(pending[2], given, MOST, counts));
    HOLDS(are_all(given, counts, 0));
    OK(weft_pending_finishv(pending[1], given, MOST, &count));
    HOLDS(is_part(given, count, 0));
    // Who does not know how many come asks, and has a second look.
    FAILS(weft_pending_finishv(pending[0], NULL, 0, counts), WEFT_TOO_LONG, "room for 0");
    HOLDS(counts[2] == counts_of[2][me]);
    OK(weft_pending_finishv(pending[0], given, MOST, counts));
    HOLDS(are_all(given, counts, me));
    FAILS(weft_pending_finishv(pending[0], given, MOST, counts), WEFT_INVALID, "starts it again");
    OK(weft_pending_free(pending[0]));
    OK(weft_pending_free(pending[1]));
    OK(weft_pending_free(pending[2]));
    OK(weft_pending_free(pending[3]));
}

static void
varied_mistakes(void)
{
    uint64_t mine[3] = { 7, 8, 9 }, given[9];
    size_t counts[MEMBERS] = { 0 }, impossible[MEMBERS] = { SIZE_MAX, 1, 1 };
    weft_pending *pending;

    given[3] = 42;
    FAILS(weft_all_gatherv(all, mine, 2, WEFT_U64, given, 3, counts), WEFT_TOO_LONG,
          "6 values came, and there is room for 3");
    HOLDS(given[3] == 42);
    FAILS(weft_gatherv(all, 3, mine, 2, WEFT_U64, given, 9, counts), WEFT_NO_SUCH_MEMBER,
          "no member 3");
    FAILS(weft_all_to_allv(all, mine, NULL, WEFT_U64, given, 9, counts), WEFT_INVALID,
          "the pointer to the counts is null");
    FAILS(weft_all_to_allv(all, mine, impossible, WEFT_U64, given, 9, counts), WEFT_INVALID,
          "no memory holds the values of all members");
    FAILS(weft_scatterv(all, me, mine, NULL, WEFT_U64, given, 9, counts), WEFT_INVALID,
          "the pointer to the counts is null");
    // The team is as good as before.
    OK(weft_all_gatherv_begin(all, mine, me, WEFT_U64, &pending));
    FAILS(weft_pending_finish(pending, given), WEFT_INVALID, "weft_pending_finishv()");
    OK(weft_pending_finishv(pending, given, 3, counts));
    HOLDS(counts[0] == 0 && counts[1] == 1 && counts[2] == 2 && given[2] == 8);
    OK(weft_pending_free(pending));
}

static void
scans(void)
{
    int32_t sum[2] = { (int32_t)me + 1, 10 }, before[2] = { (int32_t)me + 1, 10 };
    int32_t first[MEMBERS] = { 1, 1, 3 }, given[2] = { -1, -1 };
    weft_pending *pending[2];

    OK(weft_scan(all, sum, 2, WEFT_I32, WEFT_SUM));
    HOLDS(sum[0] == (int32_t)((me + 1) * (me + 2) / 2) && sum[1] == 10 * ((int32_t)me + 1));
    OK(weft_exscan(all, before, 2, WEFT_I32, WEFT_SUM));
    HOLDS(before[0] == first[me] && before[1] == (me < 2 ? 10 : 20));
    before[0] = sum[0] = (int32_t)me;
    OK(weft_scan_begin(all, sum, 1, WEFT_I32, WEFT_MAX, &pending[0]));
    OK(weft_exscan_begin(all, before, 1, WEFT_I32, WEFT_MAX, &pending[1]));
    OK(weft_pending_wait(pending[1], me == 0 ? NULL : given));
    HOLDS(given[0] == (int32_t)me - 1);
    OK(weft_pending_wait(pending[0], given));
    HOLDS(given[0] == (int32_t)me && given[1] == -1);
    FAILS(weft_scan(all, sum, 1, WEFT_F32, WEFT_OR), WEFT_INVALID, "Or is not computed with f32");
}

// x -> a x + b, which do not commute.
struct function {
    uint32_t a, b;
    uint64_t calls;
};

static void
then(void *into, const void *next, size_t count, void *user)
{
    struct function *before = into;
    const struct function *after = next;
    size_t i;

    if ((uintptr_t)into % 16 != 0 || (uintptr_t)next % 16 != 0 || *(int *)user != 5)
        abort();
    for (i = 0; i < count; i++) {
        before[i].b = after[i].a * before[i].b + after[i].b;
        before[i].a *= after[i].a;
        before[i].calls += after[i].calls;
    }
}

// The functions of the first members, one after the other.
static bool
are_first(const struct function *f, size_t count, uint32_t members)
{
    size_t i;
    uint32_t member;

    for (i = 0; i < count; i++) {
        uint32_t a = 1, b = 0;
        for (member = 0; member < members; member++) {
            b = (member + 2) * b + (uint32_t)i + member;
            a *= member + 2;
        }
        if (f[i].a != a || f[i].b != b || f[i].calls != members)
            return false;
    }
    return true;
}

static void
by_functions(size_t count)
{
    static struct function mine[4000], given[4000];
    int five = 5;
    weft_pending *pending[4];
    size_t i, size = sizeof *mine;

    for (i = 0; i < count; i++)
        mine[i] = (struct function){ me + 2, (uint32_t)i + me, 1 };
    memcpy(given, mine, count * size);
    OK(weft_reduce_by(all, 1, given, count, size, then, &five));
    HOLDS(me == 1 ? are_first(given, count, 3) : memcmp(given, mine, count * size) == 0);
    memcpy(given, mine, count * size);
    OK(weft_all_reduce_by(all, given, count, size, then, &five));
    HOLDS(are_first(given, count, 3));
    memcpy(given, mine, count * size);
    OK(weft_scan_by(all, given, count, size, then, &five));
    HOLDS(are_first(given, count, me + 1));
    memcpy(given, mine, count * size);
    OK(weft_exscan_by(all, given, count, size, then, &five));
    HOLDS(me > 0 ? are_first(given, count, me) : memcmp(given, mine, count * size) == 0);

    OK(weft_reduce_by_begin(all, 2, mine, count, size, then, &five, &pending[0]));
    OK(weft_all_reduce_by_begin(all, mine, count, size, then, &five, &pending[1]));
    OK(weft_scan_by_begin(all, mine, count, size, then, &five, &pending[2]));
    OK(weft_exscan_by_begin(all, mine, count, size, then, &five, &pending[3]));
    OK(weft_pending_wait(pending[3], given));
    HOLDS(me == 0 || are_first(given, count, me));
    OK(weft_pending_wait(pending[2], given));
    HOLDS(are_first(given, count, me + 1));
    OK(weft_pending_wait(pending[1], given));
    HOLDS(are_first(given, count, 3));
    OK(weft_pending_wait(pending[0], me == 2 ? given : NULL));
    HOLDS(me != 2 || are_first(given, count, 3));
    FAILS(weft_scan_by(all, mine, 1, size, NULL, NULL), WEFT_INVALID, "the function is null");
    FAILS(weft_scan_by(all, mine, 1, 0, then, NULL), WEFT_INVALID, "elements of no bytes");
    FAILS(weft_scan_by(all, mine, SIZE_MAX, 2, then, NULL), WEFT_INVALID, "no memory holds");
}

// One operation, as often as it is wanted.
static void
again(void)
{
    weft_pending *sum, *parts;
    uint64_t mine[MEMBERS], given[MEMBERS];
    size_t counts[MEMBERS], one_each[MEMBERS] = { 1, 1, 1 };
    uint64_t round;
    bool done;

    mine[0] = me;
    OK(weft_all_reduce_begin(all, mine, 1, WEFT_U64, WEFT_SUM, &sum));
    FAILS(weft_pending_start(sum, mine), WEFT_INVALID, "under way");
    FAILS(weft_pending_finishv(sum, given, 1, counts), WEFT_INVALID, "weft_pending_wait()");
    OK(weft_pending_finish(sum, given));
    HOLDS(given[0] == 3);
    FAILS(weft_pending_finish(sum, given), WEFT_INVALID, "weft_pending_start() starts it again");
    OK(weft_all_to_allv_begin(all, mine, one_each, WEFT_U64, &parts));
    OK(weft_pending_finishv(parts, given, MEMBERS, counts));
    for (round = 0; round < 100; round++) {
        mine[0] = mine[1] = mine[2] = round + me;
        OK(weft_pending_start(sum, mine));
        OK(weft_pending_start(parts, mine));
        do
            OK(weft_pending_test(parts, &done));
        while (!done);
        OK(weft_pending_finishv(parts, given, MEMBERS, NULL));
        HOLDS(given[0] == round && given[1] == round + 1 && given[2] == round + 2);
        OK(weft_pending_finish(sum, given));
        HOLDS(given[0] == 3 * round + 3);
    }
    OK(weft_pending_start(sum, mine));
    OK(weft_pending_wait(sum, given));
    OK(weft_pending_free(parts));
}

static void
splits(void)
{
    weft_team *part, *pair = NULL;
    uint32_t number = 9, size = 9, value = me;
    uint32_t others[MEMBERS];

    // All of them, the other way round.
    OK(weft_team_split(all, 7, 10 - me, &part));
    OK(weft_team_rank(part, &number));
    HOLDS(number == 2 - me);
    OK(weft_all_gather(part, &value, 1, WEFT_U32, others));
    HOLDS(others[0] == 2 && others[1] == 1 && others[2] == 0);
    // Ranks 2 and 0 stay together, and rank 1 is in none.
    OK(weft_team_split(part, me == 1 ? WEFT_NO_COLOUR : 0, 0, &pair));
    HOLDS((pair == NULL) == (me == 1));
    OK(weft_team_free(part));
    if (pair == NULL)
        return;
    OK(weft_team_size(pair, &size));
    HOLDS(size == 2);
    OK(weft_all_reduce(pair, &value, 1, WEFT_U32, WEFT_SUM));
    HOLDS(value == 2);
    FAILS(weft_team_split(pair, 0, 0, NULL), WEFT_INVALID, "the pointer for the result is null");
    // The two do not do the same.
    if (me == 0)
        FAILS(weft_team_split(pair, 0, 0, &part), WEFT_DISAGREEMENT, "split");
    else
        FAILS(weft_all_gather(pair, &value, 1, WEFT_U32, others), WEFT_DISAGREEMENT, "split");
    OK(weft_team_free(pair));
}

// Nobody is lost.
static void
shrinks(const weft_job *job)
{
    weft_team *whole;
    weft_loss loss;
    uint32_t flags = 99, lost[1], number = 9, value = me;
    size_t count = 9;
    bool goes_on = true;

    OK(weft_goes_on(job, &goes_on));
    HOLDS(!goes_on);
    OK(weft_losses(job, &loss, 1, &count));
    HOLDS(count == 0);
    OK(weft_team_agree(all, 12 | me, &flags, lost, 1, &count));
    HOLDS(flags == 12 && count == 0);
    OK(weft_team_shrink(all, &whole));
    OK(weft_team_rank(whole, &number));
    HOLDS(number == me);
    OK(weft_all_reduce(whole, &value, 1, WEFT_U32, WEFT_SUM));
    HOLDS(value == 3);
    count = 9;
    OK(weft_team_lost(whole, lost, 1, &count));
    HOLDS(count == 0);
    // An agreement is an operation like others here.
    if (me == 0)
        FAILS(weft_team_shrink(whole, NULL), WEFT_INVALID, "the pointer for the result is null");
    if (me == 1)
        FAILS(weft_team_barrier(whole), WEFT_DISAGREEMENT, "all-reduce");
    else
        FAILS(weft_team_agree(whole, 1, &flags, NULL, 0, &count), WEFT_DISAGREEMENT, "barrier");
    HOLDS(weft_error_rank() == WEFT_NO_RANK);
    OK(weft_team_free(whole));
}

int
main(void)
{
    weft_job *job;
    uint32_t size;

    OK(weft_join(&job));
    OK(weft_team_all(job, &all));
    OK(weft_team_rank(all, &me));
    OK(weft_team_size(all, &size));
    HOLDS(size == MEMBERS);
    varied();
    varied_begun();
    varied_mistakes();
    scans();
    by_functions(1);
    by_functions(4000);
    again();
    splits();
    shrinks(job);
    OK(weft_team_barrier(all));
    OK(weft_team_free(all));
    OK(weft_leave(job));
    return 0;
}
