// Every collective operation gives what it should, blocking and begun, of all types.

#include "check.h"

enum { MEMBERS = 3, MANY = 3000 };

static weft_team *all;
static uint32_t me;

#define REDUCES(type, of)                                                                          \
    do {                                                                                           \
        type sum = (type)(me + 1), product = (type)(me + 1), least = (type)(me + 1), most = least; \
        OK(weft_all_reduce(all, &sum, 1, of, WEFT_SUM));                                           \
        OK(weft_all_reduce(all, &product, 1, of, WEFT_PRODUCT));                                   \
        OK(weft_all_reduce(all, &least, 1, of, WEFT_MIN));                                         \
        OK(weft_all_reduce(all, &most, 1, of, WEFT_MAX));                                          \
        HOLDS(sum == 6 && product == 6 && least == 1 && most == 3);                                \
    } while (0)

#define COMBINES(type, of)                                                                         \
    do {                                                                                           \
        type both = (type)(me + 5), any = (type)(1 << me), odd = (type)(me + 1);                   \
        OK(weft_all_reduce(all, &both, 1, of, WEFT_AND));                                          \
        OK(weft_all_reduce(all, &any, 1, of, WEFT_OR));                                            \
        OK(weft_all_reduce(all, &odd, 1, of, WEFT_XOR));                                           \
        HOLDS(both == 4 && any == 7 && odd == 0);                                                  \
    } while (0)

static void
types(void)
{
    REDUCES(int8_t, WEFT_I8);
    REDUCES(int16_t, WEFT_I16);
    REDUCES(int32_t, WEFT_I32);
    REDUCES(int64_t, WEFT_I64);
    REDUCES(uint8_t, WEFT_U8);
    REDUCES(uint16_t, WEFT_U16);
    REDUCES(uint32_t, WEFT_U32);
    REDUCES(uint64_t, WEFT_U64);
    REDUCES(float, WEFT_F32);
    REDUCES(double, WEFT_F64);
    COMBINES(int8_t, WEFT_I8);
    COMBINES(int16_t, WEFT_I16);
    COMBINES(int32_t, WEFT_I32);
    COMBINES(int64_t, WEFT_I64);
    COMBINES(uint8_t, WEFT_U8);
    COMBINES(uint16_t, WEFT_U16);
    COMBINES(uint32_t, WEFT_U32);
    COMBINES(uint64_t, WEFT_U64);
}

// Values that no two members have in common.
static void
fill(int32_t *values, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        values[i] = (int32_t)(me * 100000 + i);
}

static bool
is_from(const int32_t *values, size_t count, uint32_t member, size_t first)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (values[i] != (int32_t)(member * 100000 + first + i))
            return false;
    return true;
}

static bool
are_sums(const int32_t *values, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (values[i] != (int32_t)(300000 + 3 * i))
            return false;
    return true;
}

static void
blocking(size_t count)
{
    static int32_t mine[MEMBERS * MANY], given[MEMBERS * MANY];
    uint32_t member;

    fill(mine, count);
    memcpy(given, mine, count * sizeof *mine);
    OK(weft_broadcast(all, 2, given, count, WEFT_I32));
    HOLDS(is_from(given, count, 2, 0));
    memcpy(given, mine, count * sizeof *mine);
    OK(weft_reduce(all, 1, given, count, WEFT_I32, WEFT_SUM));
    HOLDS(me == 1 ? are_sums(given, count) : is_from(given, count, me, 0));
    memcpy(given, mine, count * sizeof *mine);
    OK(weft_all_reduce(all, given, count, WEFT_I32, WEFT_SUM));
    HOLDS(are_sums(given, count));
    OK(weft_gather(all, 0, mine, count, WEFT_I32, me == 0 ? given : NULL));
    for (member = 0; me == 0 && member < MEMBERS; member++)
        HOLDS(is_from(given + member * count, count, member, 0));
    memset(given, 0, sizeof given);
    OK(weft_all_gather(all, mine, count, WEFT_I32, given));
    for (member = 0; member < MEMBERS; member++)
        HOLDS(is_from(given + member * count, count, member, 0));
    fill(mine, MEMBERS * count);
    OK(weft_scatter(all, 1, me == 1 ? mine : NULL, given, count, WEFT_I32));
    HOLDS(is_from(given, count, 1, me * count));
    OK(weft_all_to_all(all, mine, count, WEFT_I32, given));
    for (member = 0; member < MEMBERS; member++)
        HOLDS(is_from(given + member * count, count, member, me * count));
    OK(weft_team_barrier(all));
}

// All under way at once, and ended in the opposite order.
static void
begun(size_t count)
{
    static int32_t mine[MEMBERS * MANY], given[MEMBERS * MANY];
    weft_pending *pending[9];
    uint32_t member;
    bool done = false;

    fill(mine, MEMBERS * count);
    OK(weft_barrier_begin(all, &pending[0]));
    OK(weft_broadcast_begin(all, 1, me == 1 ? mine : NULL, count, WEFT_I32, &pending[1]));
    OK(weft_reduce_begin(all, 2, mine, count, WEFT_I32, WEFT_SUM, &pending[2]));
    OK(weft_all_reduce_begin(all, mine, count, WEFT_I32, WEFT_SUM, &pending[3]));
    OK(weft_gather_begin(all, 1, mine, count, WEFT_I32, &pending[4]));
    OK(weft_scatter_begin(all, 0, me == 0 ? mine : NULL, count, WEFT_I32, &pending[5]));
    OK(weft_all_gather_begin(all, mine, count, WEFT_I32, &pending[6]));
    OK(weft_all_to_all_begin(all, mine, count, WEFT_I32, &pending[7]));
    OK(weft_all_reduce_begin(all, mine, count, WEFT_I32, WEFT_MIN, &pending[8]));
    memset(mine, 0, sizeof mine);
    OK(weft_pending_free(pending[8]));
    while (!done)
        OK(weft_pending_test(pending[7], &done));
    OK(weft_pending_wait(pending[7], given));
    for (member = 0; member < MEMBERS; member++)
        HOLDS(is_from(given + member * count, count, member, me * count));
    OK(weft_pending_wait(pending[6], given));
    for (member = 0; member < MEMBERS; member++)
        HOLDS(is_from(given + member * count, count, member, 0));
    OK(weft_pending_wait(pending[5], given));
    HOLDS(is_from(given, count, 0, me * count));
    OK(weft_pending_wait(pending[4], me == 1 ? given : NULL));
    HOLDS(me != 1 || is_from(given + 2 * count, count, 2, 0));
    OK(weft_pending_wait(pending[3], given));
    HOLDS(are_sums(given, count));
    OK(weft_pending_wait(pending[2], me == 2 ? given : NULL));
    HOLDS(me != 2 || are_sums(given, count));
    OK(weft_pending_wait(pending[1], given));
    HOLDS(is_from(given, count, 1, 0));
    OK(weft_pending_wait(pending[0], NULL));
}

static void
mistakes(weft_job *job)
{
    weft_team *pair = NULL;
    weft_pending *pending;
    uint32_t ranks[2] = { 2, 0 }, twice[2] = { 1, 1 }, number = 9;
    float real = 1;
    bool done;

    FAILS(weft_broadcast(all, 9, &number, 1, WEFT_U32), WEFT_NO_SUCH_MEMBER, "no member 9");
    FAILS(weft_all_reduce(all, &real, 1, WEFT_F32, WEFT_XOR), WEFT_INVALID, "Xor");
    FAILS(weft_all_reduce(all, &real, 1, (weft_type)77, WEFT_SUM), WEFT_INVALID, "no type 77");
    FAILS(weft_all_reduce(all, &real, 1, WEFT_F32, (weft_operation)9), WEFT_INVALID, "operation 9");
    FAILS(weft_all_reduce(all, NULL, 1, WEFT_F32, WEFT_SUM), WEFT_INVALID, "null");
    FAILS(weft_all_reduce(all, &real, SIZE_MAX, WEFT_F32, WEFT_SUM), WEFT_INVALID, "no memory");
    FAILS(weft_barrier_begin(all, NULL), WEFT_INVALID, "result is null");
    FAILS(weft_pending_test((weft_pending *)(void *)all, &done), WEFT_INVALID, "no pending");
    FAILS(weft_team_create(job, twice, 2, &pair), WEFT_BAD_GROUP, "");
    OK(weft_team_create(job, ranks, 2, &pair));
    HOLDS((pair == NULL) == (me == 1));
    if (pair == NULL)
        return;
    OK(weft_team_rank(pair, &number));
    HOLDS(number == (me == 2 ? 0 : 1));
    OK(weft_team_size(pair, &number));
    HOLDS(number == 2);
    OK(weft_all_reduce_begin(pair, &number, 1, WEFT_U32, WEFT_SUM, &pending));
    OK(weft_pending_wait(pending, &number));
    HOLDS(number == 4);
    // The two disagree about how many values there are.
    FAILS(weft_all_reduce(pair, ranks, me == 0 ? 1 : 2, WEFT_U32, WEFT_SUM), WEFT_DISAGREEMENT, "");
    FAILS(weft_team_barrier(pair), WEFT_DISAGREEMENT, "");
    OK(weft_team_free(pair));
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
    types();
    blocking(1);
    blocking(MANY);
    begun(2);
    begun(MANY);
    mistakes(job);
    OK(weft_team_barrier(all));
    OK(weft_team_free(all));
    OK(weft_leave(job));
    return 0;
}
