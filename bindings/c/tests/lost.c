// Rank 2 dies while it handles a request. The others wait, one for its answer and one for a barrier,
// and are told. That may be in the barrier before, which a rank leaves later than others do.

#include <signal.h>

#include "check.h"

static void
die(weft_request *request, void *user)
{
    (void)request;
    (void)user;
    raise(SIGKILL);
}

int
main(void)
{
    weft_job *job;
    weft_service *service;
    weft_client *client;
    weft_message *answer;
    weft_status status;
    uint32_t rank;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_service_create(job, "service", die, NULL, &service));
    OK(weft_client_create(job, "service", &client));
    status = weft_barrier(job);
    if (status == WEFT_OK)
        status = rank == 0 ? weft_call(client, 2, "", 0, &answer) : weft_barrier(job);
    printf("rank %u: %s\n", rank, weft_status_name(status));
    fflush(stdout);
    _Exit(strstr(weft_error_text(), "rank 2") == NULL || weft_error_rank() != 2);
}
