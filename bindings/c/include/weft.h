// Weft for C programs: libweft. Made from bindings/c/src by `cargo run -p xtask -- header`.
//
// Every function returns a weft_status, WEFT_OK or the kind of error, and gives results through
// pointers; weft_error_text() says what went wrong. Where a comment says nothing else, pointers must
// not be null, and what they point to must stay as it is until the call returns.
//
// Callbacks run on whatever thread polls or waits, or on Weft's own if the program does neither.
// They must return: no longjmp, no C++ exception. What their user pointer points to must live as
// long as they can be called. The page weft(3) has more.

#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a call returns. Everything but WEFT_OK is an error; weft_error_text() says more about it.
typedef enum {
    // All is well.
    WEFT_OK = 0,
    // An argument that makes no sense: a null pointer, a wrong or freed handle, text that is not
    // UTF-8, a call that this job or this handle does not have.
    WEFT_INVALID,
    // A rank of the job is gone, and with it what was on its way to or from it.
    WEFT_RANK_LOST,
    // The job has no such rank.
    WEFT_NO_SUCH_RANK,
    // There is no such fetch-and-add variable.
    WEFT_NO_SUCH_VARIABLE,
    // The ranks given make no group.
    WEFT_BAD_GROUP,
    // This rank is not a member of the group.
    WEFT_NOT_A_MEMBER,
    // More bytes than there is room for.
    WEFT_TOO_LONG,
    // A message has fewer bytes left than were asked for; none was read.
    WEFT_TOO_SHORT,
    // The program holds all packets itself, so that none can become free.
    WEFT_NO_PACKETS,
    // There is a port of that name, or of one that collides with it.
    WEFT_PORT_TAKEN,
    // Nobody has created the port that a message was for.
    WEFT_NO_PORT,
    // There is no memory for a message.
    WEFT_NO_MEMORY,
    // The time limit passed.
    WEFT_TIMED_OUT,
    // Whoever was to complete an operation ended without doing so.
    WEFT_ABANDONED,
    // A peer broke the protocol; the job cannot go on.
    WEFT_PROTOCOL,
    // This process could not take its place in the job.
    WEFT_CANNOT_JOIN,
    // An option of the job makes no sense.
    WEFT_BAD_OPTION,
    // The system refused something.
    WEFT_SYSTEM,
    // A panic: a defect of Weft, or of what its callbacks call. What was going on is in an unknown
    // state.
    WEFT_PANICKED,
    // An error of a kind that has no code.
    WEFT_OTHER,
} weft_status;

// A packet that has arrived: the callback's until it returns, unless it is kept. One thread at a
// time uses it.
typedef struct weft_arrival weft_arrival;

// A multicast group. Any thread may use it, several at once.
typedef struct weft_group weft_group;

// This process's place in a job. Any thread may use it, several at once.
typedef struct weft_job weft_job;

// A message: bytes that can be read once, in order, while later ones are still on their way. One
// thread at a time uses it.
typedef struct weft_message weft_message;

// A packet to fill and send. One thread at a time uses it.
typedef struct weft_packet weft_packet;

// A port: messages for it are given to its callback, or asked for if it is a mailbox. Any thread
// may use it, several at once.
typedef struct weft_port weft_port;

// Whether what is waited for has come. It should be quick, and must not call Weft.
typedef bool (*weft_condition)(void *user);

// What a rank has done since it joined.
typedef struct {
    // Messages sent; a broadcast is one. 0 in a job for packets.
    uint64_t messages_sent;
    // Messages received. 0 in a job for packets.
    uint64_t messages_received;
    // Packets sent, one for each destination, forwards included.
    uint64_t packets_sent;
    // Packets received.
    uint64_t packets_received;
    // Bytes of the program's in the packets sent.
    uint64_t bytes_sent;
    // Bytes of the program's in the packets received.
    uint64_t bytes_received;
    // Packets that had to wait for a credit.
    uint64_t blocked_sends;
    // Interrupts: callbacks ran because the program did not poll.
    uint64_t interrupts;
    // Times that a waiting thread slept.
    uint64_t sleeps;
} weft_statistics;

// What is called for each packet that arrives. It runs on whatever thread polls or waits, or on
// Weft's upcall thread if none does; one at a time. It may send, and must not wait for other
// packets. The packet is valid until it returns, unless it keeps it.
typedef void (*weft_packet_callback)(weft_arrival *packet, void *user);

// A packet that has arrived, as it lies in memory.
typedef struct {
    // Its bytes, valid as long as the packet.
    const void *bytes;
    // How many there are.
    size_t length;
    // The rank that sent it.
    uint32_t source;
    // Whether it was sent to a group, or to all.
    bool multicast;
} weft_view;

// What is called for each message of a port. It runs on whatever thread polls or waits, or on
// Weft's upcall thread if none does; one at a time for each port, in order for each sender. It may
// read, which may wait for the rest of its message, and send; it should not wait for anything else.
// The message is valid until it returns, unless it keeps it; what it leaves unread is skipped.
typedef void (*weft_port_callback)(weft_message *message, void *user);

// A piece of what is sent.
typedef struct {
    // Where its bytes are; they are copied before the call returns.
    const void *base;
    // How many there are.
    size_t length;
} weft_iov;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The text of the last error of this thread, in one line: what went wrong, where, and what to do.
// Empty if there was none. Never null. It is Weft's, and valid until the next call that fails on
// this thread. Never blocks.
const char *weft_error_text(void);

// The name of a status, such as "WEFT_RANK_LOST"; "unknown status" for a number that is none. The
// text is a constant.
const char *weft_status_name(uint32_t status);

// The version of this library, such as "0.1.0". The text is a constant.
const char *weft_version(void);

// Joins the job that this process was started in, for messages; started by itself, it is a job of
// one rank. To be called once in a process, by its main thread, before there are others. Blocks
// until the launcher has answered. The job is the caller's, to be given back to weft_leave().
weft_status weft_join(weft_job **job);

// As weft_join(), but for packets: there are no ports, no messages and no barrier. Set a callback
// with weft_packet_receive() before anything arrives.
weft_status weft_join_packets(weft_job **job);

// Ends this rank's part and frees the job, even when it fails. A job for messages waits until all
// ranks leave, and callbacks run meanwhile; one for packets only until its own packets have left,
// so its ranks must agree before that they are done. Destroy ports, and release messages and
// packets, before. Not to be called in a callback.
weft_status weft_leave(weft_job *job);

// This rank's number, from 0. Never blocks.
weft_status weft_rank(const weft_job *job, uint32_t *rank);

// How many ranks the job has. Never blocks.
weft_status weft_size(const weft_job *job, uint32_t *size);

// Returns when all ranks have called it as often as this one. Blocks; callbacks run meanwhile. Only
// in a job for messages.
weft_status weft_barrier(const weft_job *job);

// Takes what has arrived and runs callbacks. If any is not null, it is set to whether anything
// happened. Never blocks.
weft_status weft_poll(const weft_job *job, bool *any);

// Waits until the condition is true: polls, spins, yields, then sleeps in between. A callback of this
// job has to make it true; it is looked at after each. Blocks; callbacks run meanwhile. The condition
// is called by this thread only. In a job for packets, one thread at a time waits so.
weft_status weft_poll_until(const weft_job *job,
                            weft_condition condition,
                            void *user);

// Adds amount to a counter that rank home serves without its program, and gives what it held
// before, if before is not null. Programs have the counters 0 to 31 of each rank; all begin with 0.
// Atomic across the job. Blocks for a round trip at most.
weft_status weft_fetch_and_add(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t amount,
                               uint64_t *before);

// Turns interrupts off, until weft_interrupts_on() was called as often: callbacks run only while
// this rank waits or polls. When it returns none runs behind the caller's back; it waits for one
// that does, so the caller holds nothing that a callback waits for.
weft_status weft_interrupts_off(const weft_job *job);

// Undoes one weft_interrupts_off(). Never blocks.
weft_status weft_interrupts_on(const weft_job *job);

// Says that several threads of this program send and receive. Until then all may as well, but the
// one that joined enters for free and the others pay for it; from here on each pays for an ordinary
// lock. Only in a job for messages. Never blocks.
weft_status weft_share_among_threads(const weft_job *job);

// The time in nanoseconds since some point in the past, by a clock that never goes back. Never
// blocks.
weft_status weft_now(const weft_job *job, uint64_t *now);

// What this rank has done so far. Never blocks.
weft_status weft_statistics_read(const weft_job *job, weft_statistics *statistics);

// Sets what is called for each packet that arrives, in place of what was set before; user is
// handed to it, and must live until the job is left. Packets wait while nothing is set. Only in a
// job for packets.
weft_status weft_packet_receive(const weft_job *job, weft_packet_callback callback, void *user);

// How many bytes a packet holds at most. Never blocks.
weft_status weft_packet_capacity(const weft_job *job, size_t *capacity);

// A packet to fill with weft_packet_put(). It is the caller's, who gives it back by sending or
// discarding it. Blocks while all packets are on their way; callbacks run meanwhile. Only in a job
// for packets.
weft_status weft_packet_alloc(const weft_job *job, weft_packet **packet);

// Appends bytes to a packet. If they do not fit it is WEFT_TOO_LONG, and the packet stays as it
// was. Never blocks.
weft_status weft_packet_put(weft_packet *packet, const void *bytes, size_t length);

// Sends a packet to rank to, and frees it, even when it fails. Never blocks.
weft_status weft_packet_unicast(weft_packet *packet, uint32_t to);

// Sends a packet to all ranks but this one, and frees it, even when it fails. Never blocks.
weft_status weft_packet_broadcast(weft_packet *packet);

// Sends a packet to all members of the group but this rank, which has to be one, and frees it, even
// when it fails. Never blocks.
weft_status weft_packet_multicast(weft_packet *packet, const weft_group *group);

// Frees a packet without sending it. Never blocks.
weft_status weft_packet_discard(weft_packet *packet);

// Where a packet that has arrived lies, and who sent it. Nothing is copied. Never blocks.
weft_status weft_arrival_view(const weft_arrival *arrival, weft_view *view);

// Keeps a packet beyond its callback, where it lies. It is then the caller's, to be released with
// weft_arrival_release(), and the callback's own pointer leads to nothing any more. Its sender gets
// the credit back on release: who keeps many stops senders. Never blocks.
weft_status weft_arrival_keep(weft_arrival *arrival, weft_arrival **kept);

// Releases a packet that was kept. Never blocks.
weft_status weft_arrival_release(weft_arrival *arrival);

// Creates a multicast group of count ranks. All ranks create the same groups in the same order,
// before they use them, members or not. Members that overlap with another group's can deadlock. The
// group is the caller's, to be freed with weft_group_free(). Never blocks.
weft_status weft_group_create(const weft_job *job,
                              const uint32_t *ranks,
                              size_t count,
                              weft_group **group);

// Frees what stands for a group in this program. The job keeps the group itself. Never blocks.
weft_status weft_group_free(weft_group *group);

// Creates the port of a name, whose messages the callback gets; user is handed to it, and must live
// until the port is destroyed. Every rank that receives on a port creates it under the same name;
// messages that come before that wait. The port is the caller's, to be given back to
// weft_port_destroy(). Never blocks, but the callback may run before it returns.
weft_status weft_port_create(const weft_job *job,
                             const char *name,
                             weft_port_callback callback,
                             void *user,
                             weft_port **port);

// Creates the port of a name without a callback: its messages wait to be asked for. The port is the
// caller's, to be given back to weft_port_destroy(). Never blocks.
weft_status weft_mailbox_create(const weft_job *job, const char *name, weft_port **port);

// Destroys a port; messages that wait at it are skipped. Waits for a callback that an interrupt is
// making; other threads of the program must not poll or wait meanwhile, or its callback may still
// run on one of them. Not to be called in the port's own callback.
weft_status weft_port_destroy(weft_port *port);

// Sends a message to the port of the same name at rank to. Returns when all of it is in packets;
// the receiver may be reading by then. Blocks, draining the network, while it has no credits.
weft_status weft_port_send(const weft_port *port, uint32_t to, const void *bytes, size_t length);

// As weft_port_send(), of a message in count pieces, which are gathered into packets.
weft_status weft_port_sendv(const weft_port *port,
                            uint32_t to,
                            const weft_iov *pieces,
                            size_t count);

// Sends a message in count pieces to all ranks but this one. Blocks as weft_port_send() does.
weft_status weft_port_broadcast(const weft_port *port, const weft_iov *pieces, size_t count);

// Sends a message in count pieces to all members of the group but this rank, which has to be one.
// Blocks as weft_port_send() does.
weft_status weft_port_multicast(const weft_port *port,
                                const weft_group *group,
                                const weft_iov *pieces,
                                size_t count);

// Receives the message that has waited longest at a mailbox; it is the caller's, to be released
// with weft_message_release(). Blocks until the first packet of one is there; callbacks of other
// ports run meanwhile.
weft_status weft_mailbox_receive(const weft_port *port, weft_message **message);

// As weft_mailbox_receive(), but never blocks: the message is null if there is none. Polls once.
weft_status weft_mailbox_try_receive(const weft_port *port, weft_message **message);

// As weft_mailbox_receive(), but blocks for so many nanoseconds at most: then it is WEFT_TIMED_OUT,
// and the message is null.
weft_status weft_mailbox_receive_within(const weft_port *port,
                                        uint64_t nanoseconds,
                                        weft_message **message);

// The rank that sent a message. Never blocks.
weft_status weft_message_source(const weft_message *message, uint32_t *source);

// How many bytes a message has, read or not, arrived or not. Never blocks.
weft_status weft_message_length(const weft_message *message, size_t *length);

// How many bytes of a message were not read yet. Never blocks.
weft_status weft_message_remaining(const weft_message *message, size_t *remaining);

// Copies the next bytes of a message to a buffer with room for them. If it has fewer left it is
// WEFT_TOO_SHORT, and none is read. Blocks, polling, until they have arrived.
weft_status weft_message_read(weft_message *message, void *buffer, size_t length);

// The next bytes of a message that lie together, without copying them; none at its end. They are
// valid until they are consumed, or the message is used in another way. Blocks, polling, until
// there are any.
weft_status weft_message_chunk(weft_message *message, const void **bytes, size_t *length);

// Marks so many bytes of the last chunk as read. Never blocks.
weft_status weft_message_consume(weft_message *message, size_t length);

// Skips the next bytes of a message. If it has fewer left it is WEFT_TOO_SHORT, and none is
// skipped. Blocks, polling, until they have arrived.
weft_status weft_message_skip(weft_message *message, size_t length);

// Keeps a message beyond its callback. It is then the caller's, to be released with
// weft_message_release(), and the callback's own pointer leads to nothing any more. What has
// arrived stays where it is; senders stop when too much waits. Never blocks.
weft_status weft_message_keep(weft_message *message, weft_message **kept);

// Releases a message that was received or kept; what was not read is skipped. Never blocks.
weft_status weft_message_release(weft_message *message);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WEFT_H */
