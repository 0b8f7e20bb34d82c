// A sender and a receiver of UCX in one thread: tagged messages of 8 bytes over shared memory.
//
// Each figure has a pass of its own, in which its call alone goes through counted().
#include <stdio.h>
#include <stdlib.h>
#include <ucp/api/ucp.h>

enum { WARM = 1024, ROUNDS = 2048, BYTES = 8, TAG = 7 };

static ucp_worker_h sender, receiver;
static ucp_ep_h endpoint;
static char out[BYTES], in[BYTES];
static void *sent, *received;
static const ucp_request_param_t plain;

static void
check(ucs_status_t status, const char *what)
{
	if (status != UCS_OK) {
		fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
		exit(1);
	}
}

static ucp_worker_h
open_worker(void)
{
	ucp_params_t tagged = { .field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG };
	ucp_worker_params_t alone = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_context_h context;
	ucp_worker_h worker;

	check(ucp_init(&tagged, NULL, &context), "ucp_init");
	check(ucp_worker_create(context, &alone, &worker), "ucp_worker_create");
	return worker;
}

static void
connect_sender(void)
{
	ucp_ep_params_t to = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *address;
	size_t length;

	check(ucp_worker_get_address(receiver, &address, &length), "ucp_worker_get_address");
	to.address = address;
	check(ucp_ep_create(sender, &to, &endpoint), "ucp_ep_create");
}

static void
nothing(void)
{
}

static void
post(void)
{
	received = ucp_tag_recv_nbx(receiver, in, BYTES, TAG, ~0ull, &plain);
}

static void
send_one(void)
{
	sent = ucp_tag_send_nbx(endpoint, out, BYTES, TAG, &plain);
}

static int
is_under_way(void *request)
{
	return UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS;
}

// Both ends make progress until the message has arrived.
static void
progress(void)
{
	while (is_under_way(received) || is_under_way(sent)) {
		if (is_under_way(sent))
			ucp_worker_progress(sender);
		ucp_worker_progress(receiver);
	}
	if (UCS_PTR_IS_PTR(received))
		ucp_request_free(received);
	if (UCS_PTR_IS_PTR(sent))
		ucp_request_free(sent);
}

static void
message(void)
{
	post();
	send_one();
	progress();
}

struct figure {
	const char *name;
	void (*step)(void);
};

static const struct figure figures[] = {
	{ "empty", nothing },
	{ "ucx_tagged", message },
	{ "ucx_tagged_send", send_one },
	{ "ucx_tagged_receive", post },
	{ "ucx_tagged_progress", progress },
};

// The function that callgrind counts.
__attribute__((noipa)) void
counted(void (*step)(void))
{
	step();
	__asm__ volatile("");
}

// The function after which callgrind writes a dump.
__attribute__((noipa)) void
written(void)
{
	__asm__ volatile("");
}

static void
play(void (*step)(void), void (*chosen)(void))
{
	if (step == chosen)
		counted(step);
	else
		step();
}

static void
one_message(void (*chosen)(void))
{
	play(nothing, chosen);
	if (chosen == message) {
		counted(message);
		return;
	}
	play(post, chosen);
	play(send_one, chosen);
	play(progress, chosen);
}

int
main(void)
{
	// Its own shared memory, and not what the machine has besides.
	setenv("UCX_TLS", "posix,self", 1);
	sender = open_worker();
	receiver = open_worker();
	connect_sender();
	for (size_t at = 0; at < sizeof figures / sizeof figures[0]; at++) {
		for (int round = 0; round < WARM; round++)
			one_message(NULL);
		for (int round = 0; round < ROUNDS; round++)
			one_message(figures[at].step);
		written();
		printf("%s %d\n", figures[at].name, ROUNDS);
	}
	return 0;
}
