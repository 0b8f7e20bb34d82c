// Every rank has a copy of an account, and all copies stay the same: what changes them is broadcast in
// one order. Whoever withdraws knows at once whether there was enough, without asking anybody.
//
//     weft run -n 4 -- ./replicas

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { ROUNDS = 200 };

struct account {
    int64_t balance;
    uint64_t refused;
    // What became of the last change that this rank asked for.
    bool accepted;
    uint32_t rank;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "replicas: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Runs on all ranks, for the same changes in the same order.
static void
change(weft_message *message, uint64_t number, void *user)
{
    struct account *account = user;
    int64_t amount;
    uint32_t source;
    bool accepted;

    (void)number;
    check(weft_message_source(message, &source));
    check(weft_message_read(message, &amount, sizeof amount));
    accepted = account->balance + amount >= 0;
    if (accepted)
        account->balance += amount;
    else
        account->refused++;
    if (source == account->rank)
        account->accepted = accepted;
}

int
main(void)
{
    struct account account = { 0 };
    weft_job *job;
    weft_order *changes;
    weft_iov piece;
    int64_t amount, paid = 0;
    int i;

    check(weft_join(&job));
    check(weft_rank(job, &account.rank));
    // The callback runs while this rank waits, and so needs no locks.
    check(weft_interrupts_off(job));
    check(weft_order_create(job, "changes", change, &account, &changes));
    piece.base = &amount;
    piece.length = sizeof amount;
    for (i = 0; i < ROUNDS; i++) {
        amount = i % 2 == 0 ? i : -2 * i;
        check(weft_order_broadcast_and_wait(changes, &piece, 1, NULL));
        if (account.accepted)
            paid += amount;
    }
    // What others have still to do comes before what this rank does after a barrier.
    check(weft_barrier(job));
    amount = 0;
    check(weft_order_broadcast_and_wait(changes, &piece, 1, NULL));
    check(weft_fetch_and_add(job, 0, 0, (uint64_t)paid, NULL));
    check(weft_barrier(job));
    check(weft_fetch_and_add(job, 0, 0, 0, (uint64_t *)&paid));
    printf("rank %u: the balance is %s\n", account.rank,
           account.balance == paid && account.balance >= 0 ? "what all have paid" : "wrong");
    check(weft_order_destroy(changes));
    check(weft_leave(job));
    return 0;
}
