// A client of libfabric, one of two ranks that send each other tagged messages of 8 bytes in turns.
//
//     fabric DIRECTORY      with pipes turn-0 and turn-1, and the provider, in DIRECTORY
//
// Each figure has a pass of its own, in which its call alone goes through counted().
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM = 256, ROUNDS = 512, BYTES = 8, TAG = 7, NAME_BYTES = 256, LIMIT_SECONDS = 100 };

static struct fid_domain *domain;
static struct fid_av *addresses;
static struct fid_ep *endpoint;
static struct fid_cq *queue;
static fi_addr_t peer;
static char out[BYTES], in[BYTES];
static struct fi_context2 context;
static long status;
static int turn_here, turn_there;

static void
fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
check(long result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-result));
		exit(1);
	}
}

static void
nothing(void)
{
	status = 0;
}

static void
inject(void)
{
	status = fi_tinject(endpoint, out, BYTES, peer, TAG);
}

// A send that is told of, and the entry that tells.
static void
send_and_read(void)
{
	struct fi_cq_tagged_entry entry;

	status = fi_tsend(endpoint, out, BYTES, NULL, peer, TAG, &context);
	if (status == 0)
		status = fi_cq_read(queue, &entry, 1);
}

static void
post(void)
{
	status = fi_trecv(endpoint, in, BYTES, NULL, FI_ADDR_UNSPEC, TAG, 0, &context);
}

static void
look(void)
{
	struct fi_cq_tagged_entry entry;

	status = fi_cq_read(queue, &entry, 1);
}

static void
look_in_vain(void)
{
	look();
	if (status == -FI_EAGAIN)
		status = 0;
}

struct figure {
	const char *name;
	void (*step)(void);
};

static const struct figure figures[] = {
	{ "empty", nothing },
	{ "fi_tinject", inject },
	{ "fi_tsend_and_cq_read", send_and_read },
	{ "fi_trecv", post },
	{ "fi_cq_read", look },
	{ "fi_cq_read_empty", look_in_vain },
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
play(void (*step)(void), void (*chosen)(void), const char *what)
{
	if (step == chosen)
		counted(step);
	else
		step();
	check(status, what);
}

static void
take_turn(void)
{
	char turn;

	if (read(turn_here, &turn, 1) != 1)
		fail("the other rank is gone");
}

static void
give_turn(void)
{
	if (write(turn_there, "", 1) != 1)
		fail("the other rank is gone");
}

// A turn: a message of the other rank is taken, and one is sent. The first turn of all takes none.
static void
turn(int may_take, void (*chosen)(void))
{
	take_turn();
	if (may_take) {
		play(look, chosen, "fi_cq_read");
		play(look_in_vain, chosen, "fi_cq_read in vain");
	}
	play(nothing, chosen, "nothing");
	play(post, chosen, "fi_trecv");
	if (chosen == send_and_read)
		play(send_and_read, chosen, "fi_tsend");
	else
		play(inject, chosen, "fi_tinject");
	give_turn();
}

static void
open_pipes(const char *directory, int rank)
{
	char path[4096];

	// Both ways are open at both ends, so that nobody waits for the other to open one.
	snprintf(path, sizeof path, "%s/turn-%d", directory, rank);
	turn_here = open(path, O_RDWR);
	snprintf(path, sizeof path, "%s/turn-%d", directory, 1 - rank);
	turn_there = open(path, O_RDWR);
	if (turn_here < 0 || turn_there < 0)
		fail("no pipes");
}

static void
open_endpoint(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_av_attr table = { .type = FI_AV_TABLE };
	struct fi_cq_attr tagged = { .format = FI_CQ_FORMAT_TAGGED, .size = 64 };
	struct fid_fabric *fabric;
	char name[NAME_BYTES] = { 0 }, other[NAME_BYTES];
	size_t length = sizeof name;

	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->op_flags = FI_COMPLETION;
	hints->rx_attr->op_flags = FI_COMPLETION;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup("weft");
	check(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), "fi_getinfo");
	check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
	check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
	check(fi_av_open(domain, &table, &addresses, NULL), "fi_av_open");
	check(fi_cq_open(domain, &tagged, &queue, NULL), "fi_cq_open");
	check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
	check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
	// As Open MPI does: the queue is told of operations that ask for it, and all ask.
	check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
	      "fi_ep_bind");
	check(fi_enable(endpoint), "fi_enable");
	check(fi_getname(&endpoint->fid, name, &length), "fi_getname");
	if (write(turn_there, name, sizeof name) != sizeof name ||
	    read(turn_here, other, sizeof other) != sizeof other)
		fail("no name of the other rank");
	if (fi_av_insert(addresses, other, 1, &peer, 0, NULL) != 1)
		fail("fi_av_insert");
}

// The other rank's last turn is over, and nobody sends any more.
static void
leave(int rank)
{
	take_turn();
	if (rank == 0)
		give_turn();
	check(fi_close(&endpoint->fid), "fi_close");
	check(fi_close(&queue->fid), "fi_close");
	check(fi_close(&addresses->fid), "fi_close");
	check(fi_close(&domain->fid), "fi_close");
}

int
main(int argc, char **argv)
{
	const char *rank_text = getenv("WEFT_RANK");
	int first = 1, rank = rank_text ? atoi(rank_text) : 0;

	if (argc != 2)
		fail("usage: fabric DIRECTORY");
	// Two ranks that wait for each other end.
	alarm(LIMIT_SECONDS);
	open_pipes(argv[1], rank);
	setenv("FI_PROVIDER_PATH", argv[1], 1);
	open_endpoint();
	// Each message finds a receive that was posted for it.
	if (rank == 1) {
		post();
		check(status, "fi_trecv");
		give_turn();
	}
	for (size_t at = 0; at < sizeof figures / sizeof figures[0]; at++) {
		for (int round = 0; round < WARM; round++, first = 0)
			turn(!first || rank == 1, NULL);
		for (int round = 0; round < ROUNDS; round++)
			turn(1, figures[at].step);
		written();
		printf("%s %d\n", figures[at].name, ROUNDS);
	}
	leave(rank);
	return 0;
}
