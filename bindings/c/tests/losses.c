// A job that goes on after a loss: rank 2 of four kills itself, and the others are told, by whatever
// needs it; they shrink their team, agree, and go on. Each mistake is said.

#include <signal.h>

#include "check.h"

enum { RANKS = 4, LOST = 2 };

static uint32_t me;

// Broadcasts that this rank had, and the rank whose loss it was told of, after how many.
static uint32_t had, gone = RANKS, gone_after;

static void
answer(weft_request *request, void *user)
{
    (void)user;
    OK(weft_request_reply(request, "yes", 3));
}

// Regions of a rank that lives and of the one that is lost, which all have read.
static weft_region *kept, *doomed;

static weft_regions *
read_regions(const weft_job *job)
{
    const weft_region_name of_0 = { 0, 0 }, of_lost = { LOST, 0 };
    weft_regions *regions;
    weft_region_name name;
    const void *bytes;

    OK(weft_regions_open(job, &regions));
    OK(weft_region_create(regions, sizeof me, WEFT_HINT_INVALIDATE, &name));
    OK(weft_regions_barrier(regions));
    OK(weft_region_map(regions, of_0, &kept));
    OK(weft_region_map(regions, of_lost, &doomed));
    OK(weft_region_start_read(kept, &bytes));
    OK(weft_region_end_read(kept));
    OK(weft_region_start_read(doomed, &bytes));
    OK(weft_region_end_read(doomed));
    OK(weft_regions_barrier(regions));
    return regions;
}

// Each rank that lives adds 1 to what is left.
static void
regions_go_on(weft_regions *regions, const weft_team *rest)
{
    const void *bytes;
    void *room;

    FAILS(weft_region_start_read(doomed, &bytes), WEFT_RANK_LOST,
          "region 0 of rank 2 was lost with rank 2");
    HOLDS(weft_error_rank() == LOST);
    FAILS(weft_region_start_write(doomed, &room), WEFT_RANK_LOST, "was lost with rank 2");
    OK(weft_region_unmap(doomed));
    OK(weft_region_start_write(kept, &room));
    *(uint32_t *)room += 1;
    OK(weft_region_end_write(kept));
    OK(weft_team_barrier(rest));
    OK(weft_region_start_read(kept, &bytes));
    HOLDS(*(const uint32_t *)bytes == RANKS - 1);
    OK(weft_region_end_read(kept));
    OK(weft_region_unmap(kept));
    FAILS(weft_regions_barrier(regions), WEFT_RANK_LOST, "rank 2 was killed");
    // Of all ranks: who still needs it says so by other means.
    OK(weft_team_barrier(rest));
    FAILS(weft_regions_close(regions), WEFT_RANK_LOST, "rank 2 was killed");
}

static void
ordered(weft_message *message, uint64_t number, void *user)
{
    (void)message;
    (void)user;
    HOLDS(number >= had);
    had++;
}

static void
is_lost(uint32_t rank, void *user)
{
    HOLDS(user == &gone && gone == RANKS);
    gone = rank;
    gone_after = had;
}

static void
before_the_loss(const weft_job *job, const weft_team *all)
{
    uint64_t sum = me;
    size_t count = 9;
    bool goes_on = false;

    OK(weft_goes_on(job, &goes_on));
    HOLDS(goes_on);
    OK(weft_losses(job, NULL, 0, &count));
    HOLDS(count == 0);
    OK(weft_team_lost(all, NULL, 0, &count));
    HOLDS(count == 0);
    HOLDS(weft_error_rank() == WEFT_NO_RANK);
    OK(weft_all_reduce(all, &sum, 1, WEFT_U64, WEFT_SUM));
    HOLDS(sum == 6);
}

// Waits for the news of a loss: a team may fail by what others have heard.
static void
hear_of_one(const weft_job *job)
{
    size_t count = 0;

    while (count == 0) {
        OK(weft_poll(job, NULL));
        OK(weft_losses(job, NULL, 0, &count));
    }
}

// What needs the lost rank says which it is.
static void
is_told(const weft_job *job, const weft_team *all, const weft_client *client)
{
    weft_loss losses[RANKS];
    weft_message *reply;
    uint64_t sum = me;
    uint32_t lost[RANKS] = { 9, 9, 9, 9 };
    size_t count = 9;

    FAILS(weft_all_reduce(all, &sum, 1, WEFT_U64, WEFT_SUM), WEFT_RANK_LOST, "rank 2 ");
    HOLDS(weft_error_rank() == LOST);
    hear_of_one(job);
    FAILS(weft_losses(job, NULL, 1, &count), WEFT_INVALID, "the pointer to the losses is null");
    HOLDS(weft_error_rank() == WEFT_NO_RANK);
    FAILS(weft_call(client, LOST, "", 0, &reply), WEFT_RANK_LOST, "rank 2 was killed");
    HOLDS(weft_error_rank() == LOST);
    OK(weft_losses(job, losses, RANKS, &count));
    HOLDS(count == 1 && losses[0].rank == LOST);
    HOLDS(losses[0].cause == WEFT_CAUSE_KILLED && losses[0].value == SIGKILL);
    HOLDS(strcmp(losses[0].text, "was killed by signal 9 (SIGKILL)") == 0);
    // Who does not know how many there are asks.
    count = 9;
    OK(weft_losses(job, NULL, 0, &count));
    HOLDS(count == 1);
    OK(weft_team_lost(all, lost, RANKS, &count));
    HOLDS(count == 1 && lost[0] == LOST && lost[1] == 9);
    FAILS(weft_barrier(job), WEFT_RANK_LOST, "rank 2 was killed by signal 9 (SIGKILL)");
}

// The order goes on, and tells all that live of the loss between the same two messages.
static void
order_goes_on(const weft_job *job, const weft_order *order, const weft_team *rest)
{
    weft_iov piece = { "again", 5 };
    uint32_t members[RANKS] = { 9, 9, 9, 9 }, after[RANKS - 1];
    size_t count = 9;

    while (gone == RANKS)
        OK(weft_poll(job, NULL));
    HOLDS(gone == LOST);
    OK(weft_order_members(order, members, RANKS, &count));
    HOLDS(count == RANKS - 1 && members[0] == 0 && members[1] == 1 && members[2] == 3);
    HOLDS(members[3] == 9);
    OK(weft_all_gather(rest, &gone_after, 1, WEFT_U32, after));
    HOLDS(after[0] == gone_after && after[1] == gone_after && after[2] == gone_after);
    OK(weft_order_broadcast_and_wait(order, &piece, 1, NULL));
    OK(weft_team_barrier(rest));
    HOLDS(had >= gone_after + 1);
}

// The counter goes on: what rank 2 had added counts where ranks share memory.
static void
counter_goes_on(weft_counter *counter, const weft_team *rest)
{
    uint64_t value, all[RANKS - 1];

    OK(weft_counter_move(counter, rest));
    OK(weft_counter_add(counter, 1, &value));
    HOLDS(value >= 10 * RANKS && value < 10 * RANKS + RANKS - 1);
    OK(weft_all_gather(rest, &value, 1, WEFT_U64, all));
    HOLDS(all[0] != all[1] && all[1] != all[2] && all[2] != all[0]);
    OK(weft_counter_free(counter));
}

// The ranks that live go on as a team.
static void
goes_on(weft_team *rest, const weft_client *client)
{
    weft_message *reply;
    weft_pending *pending;
    uint64_t sum = me;
    uint32_t numbers[RANKS - 1] = { 9, 9, 9 }, size = 9, flags = 9;
    size_t count = 9, length;

    OK(weft_team_size(rest, &size));
    HOLDS(size == RANKS - 1);
    OK(weft_all_reduce(rest, &sum, 1, WEFT_U64, WEFT_SUM));
    HOLDS(sum == 4);
    OK(weft_all_gather(rest, &me, 1, WEFT_U32, numbers));
    HOLDS(numbers[0] == 0 && numbers[1] == 1 && numbers[2] == 3);
    sum = 1;
    OK(weft_all_reduce_begin(rest, &sum, 1, WEFT_U64, WEFT_SUM, &pending));
    OK(weft_pending_wait(pending, &sum));
    HOLDS(sum == 3);
    OK(weft_call(client, me == 0 ? 3 : 0, "", 0, &reply));
    OK(weft_message_remaining(reply, &length));
    HOLDS(length == 3);
    OK(weft_message_release(reply));
    // Of this team nobody is lost.
    OK(weft_team_lost(rest, NULL, 0, &count));
    HOLDS(count == 0);
    OK(weft_team_agree(rest, 8 | me, &flags, NULL, 0, &count));
    HOLDS(flags == 8 && count == 0);
}

static void
agrees(const weft_team *all)
{
    uint32_t flags = 99, lost[RANKS] = { 9, 9, 9, 9 };
    size_t count = 9;

    OK(weft_team_agree(all, me == 3 ? 6 : 7, &flags, lost, RANKS, &count));
    HOLDS(flags == 6 && count == 1 && lost[0] == LOST && lost[1] == 9);
    OK(weft_team_agree(all, UINT32_MAX, &flags, NULL, 0, &count));
    HOLDS(flags == UINT32_MAX && count == 1);
}

// A mistake that this rank finds by itself takes no part in anything.
static void
mistakes(const weft_job *job, const weft_team *all, const weft_order *order)
{
    weft_team *team;
    uint32_t flags, lost[1];
    size_t count;

    FAILS(weft_goes_on(NULL, NULL), WEFT_INVALID, "job is null");
    FAILS(weft_goes_on(job, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_losses(NULL, NULL, 0, &count), WEFT_INVALID, "job is null");
    FAILS(weft_losses(job, NULL, 0, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_losses(job, NULL, SIZE_MAX, &count), WEFT_INVALID,
          "the pointer to the losses is null");
    FAILS(weft_order_members(NULL, lost, 1, &count), WEFT_INVALID, "order is null");
    FAILS(weft_order_members(order, NULL, 1, &count), WEFT_INVALID,
          "the pointer to the ranks is null");
    FAILS(weft_order_members(order, lost, 1, NULL), WEFT_INVALID,
          "the pointer for the number of ranks is null");
    FAILS(weft_team_lost(NULL, lost, 1, &count), WEFT_INVALID, "team is null");
    FAILS(weft_team_lost(all, NULL, 1, &count), WEFT_INVALID, "the pointer to the ranks is null");
    FAILS(weft_team_lost(all, lost, 1, NULL), WEFT_INVALID,
          "the pointer for the number of ranks is null");
    FAILS(weft_team_agree(NULL, 0, &flags, lost, 1, &count), WEFT_INVALID, "team is null");
    FAILS(weft_team_agree(all, 0, NULL, lost, 1, &count), WEFT_INVALID,
          "the pointer for the result is null");
    FAILS(weft_team_agree(all, 0, &flags, NULL, 1, &count), WEFT_INVALID,
          "the pointer to the ranks is null");
    FAILS(weft_team_agree(all, 0, &flags, lost, 1, NULL), WEFT_INVALID,
          "the pointer for the number of ranks is null");
    FAILS(weft_team_shrink(NULL, &team), WEFT_INVALID, "team is null");
    FAILS(weft_team_shrink(all, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_team_shrink((const weft_team *)(const void *)job, &team), WEFT_INVALID,
          "this is no team");
}

// One shrinks a team while the others agree: all are told, and may call the same then.
static void
do_not_do_the_same(const weft_team *all, const weft_team *rest)
{
    const weft_team *teams[] = { all, rest };
    weft_team *shrunk;
    uint32_t flags;
    size_t count, i;

    for (i = 0; i < 2; i++) {
        if (me == 1)
            FAILS(weft_team_shrink(teams[i], &shrunk), WEFT_CALLS_DIFFER,
                  "the other members of this team that live do not shrink it: after a loss all of "
                  "them call the same");
        else
            FAILS(weft_team_agree(teams[i], 1, &flags, NULL, 0, &count), WEFT_CALLS_DIFFER,
                  "the other members of this team that live do not agree: after a loss all of them "
                  "call the same");
        HOLDS(weft_error_rank() == WEFT_NO_RANK);
        OK(weft_team_agree(teams[i], 1, &flags, NULL, 0, &count));
        HOLDS(flags == 1);
    }
}

int
main(void)
{
    weft_job *job;
    weft_team *all, *rest;
    weft_service *service;
    weft_client *client;
    weft_order *order;
    weft_regions *regions;
    weft_counter *counter;
    weft_iov piece = { "once", 4 };

#ifdef ASKS
    FAILS(weft_join_to_go_on(NULL), WEFT_INVALID, "the pointer for the result is null");
    OK(weft_join_to_go_on(&job));
#else
    OK(weft_join(&job));
#endif
    OK(weft_rank(job, &me));
    OK(weft_team_all(job, &all));
    OK(weft_service_create(job, "service", answer, NULL, &service));
    OK(weft_client_create(job, "service", &client));
    OK(weft_order_create_with_losses(job, "order", ordered, is_lost, &gone, &order));
    before_the_loss(job, all);
    OK(weft_counter_create(all, &counter));
    OK(weft_counter_add(counter, 10, NULL));
    regions = read_regions(job);
    // The barrier of regions may fail elsewhere by a loss that comes next; this one has begun there.
    OK(weft_team_barrier(all));
    OK(weft_order_broadcast(order, &piece, 1, NULL));
    if (me == LOST)
        raise(SIGKILL);
    is_told(job, all, client);
    agrees(all);
    mistakes(job, all, order);
    OK(weft_team_shrink(all, &rest));
    goes_on(rest, client);
    counter_goes_on(counter, rest);
    order_goes_on(job, order, rest);
    regions_go_on(regions, rest);
    do_not_do_the_same(all, rest);
    OK(weft_team_barrier(rest));
    printf("rank %u went on\n", me);
    OK(weft_order_destroy(order));
    OK(weft_client_free(client));
    OK(weft_service_destroy(service));
    OK(weft_team_free(rest));
    OK(weft_team_free(all));
    OK(weft_leave(job));
    return 0;
}
