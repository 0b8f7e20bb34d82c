// Every rank has a branch with 1000 in its current account, and asks the next rank for transfers to
// the one after it: a circle of ranks that wait for one another, with their accounts locked.
//
//     weft run -n 4 -- ./bank

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { TRANSFERS = 20 };

struct account {
    pthread_mutex_t lock;
    int64_t balance;
};

struct branch {
    weft_client *deposits;
    weft_port *receipts;
    uint32_t next;
    // Locked in this order.
    struct account current, savings;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "bank: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
add(struct account *account, int64_t sum)
{
    pthread_mutex_lock(&account->lock);
    account->balance += sum;
    pthread_mutex_unlock(&account->lock);
}

// Moves a sum from this rank's current account to the savings account of the next rank. Runs on a
// thread of its own, which may wait with the account locked.
static void
transfer(weft_message *message, void *user)
{
    struct branch *branch = user;
    weft_message *answer;
    uint32_t from;
    int64_t sum;

    check(weft_message_source(message, &from));
    check(weft_message_read(message, &sum, sizeof sum));
    pthread_mutex_lock(&branch->current.lock);
    branch->current.balance -= sum;
    check(weft_call(branch->deposits, branch->next, &sum, sizeof sum, &answer));
    pthread_mutex_unlock(&branch->current.lock);
    check(weft_message_release(answer));
    check(weft_port_send(branch->receipts, from, &sum, sizeof sum));
}

// Waits for nothing but a lock that is held for some instructions only.
static void
deposit(weft_request *request, void *user)
{
    struct branch *branch = user;
    weft_message *message;
    int64_t sum;

    check(weft_request_message(request, &message));
    check(weft_message_read(message, &sum, sizeof sum));
    add(&branch->savings, sum);
    check(weft_request_reply(request, &sum, sizeof sum));
}

// Asks the next rank for all transfers at once, and waits until each is done.
static void
ask(const struct branch *branch, const weft_port *transfers)
{
    size_t length;
    int64_t sum;

    for (sum = 1; sum <= TRANSFERS; sum++)
        check(weft_port_send(transfers, branch->next, &sum, sizeof sum));
    for (int done = 0; done < TRANSFERS; done++)
        check(weft_mailbox_receive_into(branch->receipts, &sum, sizeof sum, &length, NULL));
}

int
main(void)
{
    struct branch branch = {
        .current = { PTHREAD_MUTEX_INITIALIZER, 1000 },
        .savings = { PTHREAD_MUTEX_INITIALIZER, 0 },
    };
    weft_job *job;
    weft_team *all;
    weft_service *service;
    weft_port *transfers;
    uint32_t rank, size;
    int64_t total;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    branch.next = (rank + 1) % size;
    check(weft_service_create(job, "deposit", deposit, &branch, &service));
    check(weft_client_create(job, "deposit", &branch.deposits));
    check(weft_mailbox_create(job, "receipts", &branch.receipts));
    check(weft_port_create_popup(job, "transfer", transfer, &branch, &transfers));
    ask(&branch, transfers);
    check(weft_barrier(job)); // All transfers are done, everywhere.
    total = branch.current.balance + branch.savings.balance;
    check(weft_team_all(job, &all));
    check(weft_all_reduce(all, &total, 1, WEFT_I64, WEFT_SUM));
    if (rank == 0)
        printf("%u transfers, and the ranks have %lld together, as before\n", size * TRANSFERS,
               (long long)total);
    check(weft_team_free(all));
    check(weft_port_destroy(transfers));
    check(weft_port_destroy(branch.receipts));
    check(weft_client_free(branch.deposits));
    check(weft_service_destroy(service));
    check(weft_leave(job));
    return 0;
}
