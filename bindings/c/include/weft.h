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

// Answer of weft_error_rank() where no loss is the reason.
#define WEFT_NO_RANK UINT32_MAX

// Any sender of messages.
#define WEFT_ANY_RANK UINT32_MAX

// Colour of a member that is in no part of a team that is split.
#define WEFT_NO_COLOUR UINT32_MAX

// Status that a call returns. Everything but WEFT_OK is an error; weft_error_text() says more
// about it.
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
    // Programs have no such variable.
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
    // There is a port or an object of that name, or a port of one that collides with it.
    WEFT_PORT_TAKEN,
    // Nobody has created the port that a message was for.
    WEFT_NO_PORT,
    // There is no memory for a message.
    WEFT_NO_MEMORY,
    // The time limit passed.
    WEFT_TIMED_OUT,
    // Whoever was to complete an operation ended without doing so, or was to send a message and
    // gave it up.
    WEFT_ABANDONED,
    // The rank that was called has no such service.
    WEFT_NO_SERVICE,
    // A service ended a request without an answer.
    WEFT_NO_REPLY,
    // A service says that it could not do what it was asked; its text says why.
    WEFT_CALL_FAILED,
    // The job has as many orders as it can have.
    WEFT_TOO_MANY_ORDERS,
    // Callbacks broadcast more and more in an order, which others do not keep up with.
    WEFT_OVERDRAWN,
    // A callback of an order, or all of a program, waits for what only itself could bring about.
    WEFT_WAITS_FOR_ITSELF,
    // The members of a team, or the ranks that share regions, began different operations; it is of
    // no use any more.
    WEFT_DISAGREEMENT,
    // The members of a team that live do not call the same after a loss, or do not bring the same
    // counter. They may call it again.
    WEFT_CALLS_DIFFER,
    // The job has no room for so many more ranks.
    WEFT_JOB_FULL,
    // The team has no such member.
    WEFT_NO_SUCH_MEMBER,
    // There is no such region, or it was deleted.
    WEFT_NO_REGION,
    // There is no such object, or it was deleted.
    WEFT_NO_OBJECT,
    // The other side of a connection has closed it, or gave no right to what was asked.
    WEFT_REFUSED,
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

// Cause of the end of a rank.
typedef enum {
    // It exited before the job was over; the value is its status.
    WEFT_CAUSE_EXITED = 0,
    // A signal killed it; the value is the signal's number.
    WEFT_CAUSE_KILLED,
    // It broke the protocol.
    WEFT_CAUSE_MISBEHAVED,
    // It ended before the job was over. Only its parent knows the cause.
    WEFT_CAUSE_ENDED,
    // Nothing was received from it; the value is for how many tenths of a second.
    WEFT_CAUSE_UNREACHABLE,
    // The path to it takes only packets that are too short; the value is the bytes of one that
    // does not get through.
    WEFT_CAUSE_MTU_EXCEEDED,
} weft_cause;

// The type of values.
typedef enum {
    // int8_t
    WEFT_I8 = 0,
    // int16_t
    WEFT_I16,
    // int32_t
    WEFT_I32,
    // int64_t
    WEFT_I64,
    // uint8_t: bytes of anything, where nothing is computed.
    WEFT_U8,
    // uint16_t
    WEFT_U16,
    // uint32_t
    WEFT_U32,
    // uint64_t
    WEFT_U64,
    // float
    WEFT_F32,
    // double
    WEFT_F64,
} weft_type;

// Operation that combines values, in the order of members, always in the same tree: floats give
// the same bits everywhere.
typedef enum {
    // The sum. That of integers wraps around.
    WEFT_SUM = 0,
    // The product. That of integers wraps around.
    WEFT_PRODUCT,
    // The least. Of floats that are not numbers it takes none, if there is another.
    WEFT_MIN,
    // The greatest. Of floats that are not numbers it takes none, if there is another.
    WEFT_MAX,
    // Bitwise and; of integers only, as the two below.
    WEFT_AND,
    // Bitwise or.
    WEFT_OR,
    // Bitwise exclusive or.
    WEFT_XOR,
} weft_operation;

// Usage pattern of a region. Whatever it says, programs see the same memory.
typedef enum {
    // Writers drop the copies of readers, who ask again.
    WEFT_HINT_INVALIDATE = 0,
    // Written by one rank and read by many, over and over: who had a copy when a write began gets
    // what was written when it ends.
    WEFT_HINT_UPDATE,
    // Read and then written, by one rank after another: who reads gets the only copy.
    WEFT_HINT_MIGRATORY,
} weft_hint;

// Rights that a receiver gives the other side.
typedef enum {
    // Put bytes into the buffer.
    WEFT_RIGHTS_PUT = 1,
    // Get bytes from it.
    WEFT_RIGHTS_GET = 2,
    // Both.
    WEFT_RIGHTS_BOTH = 3,
} weft_rights;

// A packet that has arrived: the callback's until it returns, unless it is kept. One thread at a
// time uses it.
typedef struct weft_arrival weft_arrival;

// A receive buffer that this rank has offered to another. Any thread may use it, several at once.
typedef struct weft_buffer weft_buffer;

// A call that was begun. One thread at a time uses it.
typedef struct weft_pending_call weft_pending_call;

// Client of a service of other ranks. Any thread may use it, several at once.
typedef struct weft_client weft_client;

// The right to put into, or to get from, a receive buffer of another rank. One thread at a time
// uses it.
typedef struct weft_connection weft_connection;

// A counter that a team shares. It is at 0 at first, at its home, the team's first member. Any
// thread may add to it, several at once, but not while it is moved or freed.
typedef struct weft_counter weft_counter;

// A multicast group. Any thread may use it, several at once.
typedef struct weft_group weft_group;

// This process's place in a job. Any thread may use it, several at once.
typedef struct weft_job weft_job;

// A message: bytes that can be read once, in order, while later ones are still on their way. One
// thread at a time uses it.
typedef struct weft_message weft_message;

// Queue of notifications, of one receive buffer or of several. One thread at a time uses it.
typedef struct weft_notifications weft_notifications;

// An order: messages that all its members get in one order. Any thread may use it, several at
// once.
typedef struct weft_order weft_order;

// A packet to fill and send. One thread at a time uses it.
typedef struct weft_packet weft_packet;

// An operation that was begun, and can be started again once it is over. One thread at a time uses
// it.
typedef struct weft_pending weft_pending;

// A port: messages for it are given to its callback, or asked for if it is a mailbox. Any thread
// may use it, several at once.
typedef struct weft_port weft_port;

// A region that this rank has mapped. One thread at a time uses it.
typedef struct weft_region weft_region;

// A rank's part in the regions of a job. Any thread may use it, several at once.
typedef struct weft_regions weft_regions;

// A request to a service, to be answered once. One thread at a time uses it and its message.
typedef struct weft_request weft_request;

// A service that this rank offers. Any thread may use it.
typedef struct weft_service weft_service;

// Ranks that act together, each a member with a number from 0 on. All members begin the same
// operations in the same order, of as many values; if not, all get WEFT_DISAGREEMENT and the team
// is of no use any more. One thread at a time begins operations. A call that blocks goes together
// with calls that block, and one that begins with others that do.
typedef struct weft_team weft_team;

// Condition that is waited for; true once it holds. It should be quick, and must not call Weft.
typedef bool (*weft_condition)(void *user);

// Counter of a rank. Its texts are there as long as the program runs.
typedef struct {
    // Its name, the same in all versions: "messages_sent" for example.
    const char *name;
    // Its unit: "messages", "bytes" and so on.
    const char *unit;
    // Its meaning, for a person.
    const char *help;
    // The counter, since the rank joined.
    uint64_t value;
} weft_statistic;

// Function that gets a counter; it must not keep the structure, but may keep the texts.
typedef void (*weft_statistic_callback)(const weft_statistic *statistic, void *user);

// Callback for each packet that arrives. It runs on whatever thread polls or waits, or on Weft's
// upcall thread if none does; one at a time. It may send, and must not wait for other packets. The
// packet is valid until it returns, unless it keeps it.
typedef void (*weft_packet_callback)(weft_arrival *packet, void *user);

// A packet that has arrived, as it lies in memory.
typedef struct {
    // Its bytes, valid as long as the packet.
    const void *bytes;
    // Number of bytes.
    size_t length;
    // The rank that sent it.
    uint32_t source;
    // True if it was sent to a group, or to all.
    bool multicast;
} weft_view;

// Callback for each message of a port. It runs on whatever thread polls or waits, or on Weft's
// upcall thread if none does; one at a time for each port, in order for each sender. It may read,
// which may wait for the rest of its message, and send; it should not wait for anything else. The
// message is valid until it returns, unless it keeps it; what it leaves unread is skipped.
typedef void (*weft_port_callback)(weft_message *message, void *user);

// Callback for each request of a service, one at a time. It runs on whatever thread polls or
// waits, or on Weft's upcall thread if none does. The request is valid until it returns, unless it
// keeps it; if it does neither keep nor answer it, the caller gets WEFT_NO_REPLY.
typedef void (*weft_service_callback)(weft_request *request, void *user);

// Callback for each message of an order, this rank's own too: one at a time, on every member with
// the same numbers, from 0 on without a gap. It runs as that of a port does, also in calls that
// broadcast. It may read and send; a broadcast of its own never waits. The message is valid until
// it returns, unless it keeps it.
typedef void (*weft_order_callback)(weft_message *message, uint64_t number, void *user);

// Callback for the loss of a member of an order, in a job that goes on after losses: at all
// members that live between the same two messages. It runs as weft_order_callback does, and never
// beside it.
typedef void (*weft_order_loss_callback)(uint32_t rank, void *user);

// Function that combines count elements: makes of each of into what it and its equal of next give,
// which comes after it in the order of members. It must be associative, and need not be
// commutative. Both lie at multiples of 16 bytes, and are Weft's. It runs on whatever thread
// polls, until the operation is over.
typedef void (*weft_combine)(void *into, const void *next, size_t count, void *user);

// A region's name in the job: bytes that may be sent to other ranks.
typedef struct {
    // The rank that created it, its home.
    uint32_t home;
    // Index among that rank's regions, from 0; numbers are not used again.
    uint32_t index;
} weft_region_name;

// Something happened at a receive buffer.
typedef struct {
    // The rank at the other end.
    uint32_t from;
    // Number of this rank's buffer: see weft_buffer_number().
    uint32_t buffer;
    // Offset at which bytes were placed.
    size_t offset;
    // Number of bytes: all of them are there.
    size_t length;
    // Word that the sender gave with them.
    uint32_t word;
    // True if the sender has closed the connection instead: nothing was placed, and nothing of it
    // follows.
    bool closed;
} weft_notification;

// A piece of what is sent.
typedef struct {
    // First of its bytes; they are copied before the call returns.
    const void *base;
    // Number of bytes.
    size_t length;
} weft_iov;

// Loss of a rank.
typedef struct {
    // The rank.
    uint32_t rank;
    // The cause of its end.
    weft_cause cause;
    // The number that the cause has; 0 if it has none.
    uint32_t value;
    // The cause in words, such as "was killed by signal 9 (SIGKILL)", which is there as long as
    // the program runs.
    const char *text;
} weft_loss;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The text of the last error of this thread, in one line: what went wrong, where, and what to do.
// Empty if there was none. Never null. It is Weft's, and valid until the next call that fails on
// this thread. Never blocks.
const char *weft_error_text(void);

// The rank that was lost, if that is the reason of the last error of this thread; WEFT_NO_RANK if
// it is not, or there was no error. Never blocks.
uint32_t weft_error_rank(void);

// The name of a status, such as "WEFT_RANK_LOST"; "unknown status" for a number that is none. The
// text is a constant.
const char *weft_status_name(uint32_t status);

// The version of this library, such as "0.1.0". The text is a constant.
const char *weft_version(void);

// Joins the job that this process was started in, for messages; started by itself, it is a job of
// one rank. To be called once in a process, by its main thread, before there are others. Blocks
// until the launcher has answered. The job is the caller's, to be given back to weft_leave().
weft_status weft_join(weft_job **job);

// Does what weft_join() does, and asks that the job go on after the loss of a rank, as all
// programs of the job do. weft run --on-loss continue has a job go on whatever programs ask; under
// a process manager it ends at a loss, which weft_goes_on() says.
weft_status weft_join_to_go_on(weft_job **job);

// Joins a job that has not started this process by its door, for messages: door is
// weft-door-ADDRESS:SECRET, or the file that weft run --door writes, on a host of that job. If
// goes_on is true it asks that the job go on after a loss, as weft_join_to_go_on() does. Blocks
// until the job's program lets this process in, by weft_team_admit(); WEFT_CANNOT_JOIN if the job
// ends first. What weft_join() does where the environment says WEFT_DOOR.
weft_status weft_join_at(const char *door, bool goes_on, weft_job **job);

// Does what weft_join() does, but for packets: there are no ports, no messages and no barrier. Set
// a callback with weft_packet_receive() before anything arrives.
weft_status weft_join_packets(weft_job **job);

// Ends this rank's part and frees the job, even when it fails. A job for messages waits until all
// ranks leave, and callbacks run meanwhile; one for packets only until its own packets have left,
// so its ranks must agree before that they are done. All else that the job gave out is to be given
// back before. Not to be called in a callback.
weft_status weft_leave(weft_job *job);

// This rank's number, from 0. Never blocks.
weft_status weft_rank(const weft_job *job, uint32_t *rank);

// Number of ranks that the job began with: all there are, unless it grows. Never blocks.
weft_status weft_size(const weft_job *job, uint32_t *size);

// Number of ranks that the job has at most: see weft_team_grow(). Never blocks.
weft_status weft_room(const weft_job *job, uint32_t *room);

// Returns when all ranks have called it as often as this one. Blocks; callbacks run meanwhile.
// Only in a job for messages.
weft_status weft_barrier(const weft_job *job);

// Takes what has arrived and runs callbacks. If any is not null, it is set to whether anything
// happened. Never blocks.
weft_status weft_poll(const weft_job *job, bool *any);

// Waits until the condition is true: polls, spins, yields, then sleeps in between. A callback of
// this job has to make it true; it is looked at after each. Blocks; callbacks run meanwhile. The
// condition is called by this thread only. In a job for packets, one thread at a time waits so.
weft_status weft_poll_until(const weft_job *job, weft_condition condition, void *user);

// Turns interrupts off, until weft_interrupts_on() was called as often: callbacks run only while
// this rank waits or polls. When it returns none runs behind the caller's back; it waits for one
// that does, so the caller holds nothing that a callback waits for.
weft_status weft_interrupts_off(const weft_job *job);

// Undoes one weft_interrupts_off(). Never blocks.
weft_status weft_interrupts_on(const weft_job *job);

// Says that several threads of this program send and receive. Until then all may as well, but the
// one that joined enters for free and the others pay for it; from here on each pays for an
// ordinary lock. Only in a job for messages. Never blocks.
weft_status weft_share_among_threads(const weft_job *job);

// The time in nanoseconds since some point in the past, by a clock that never goes back. Never
// blocks.
weft_status weft_now(const weft_job *job, uint64_t *now);

// Begins a span of time, which a trace of the run (weft run --trace) shows under this name until
// weft_span_end() ends it. `span` is given its number. In a run that is not traced nothing
// happens. Never blocks.
weft_status weft_span_begin(const weft_job *job, const char *name, uint32_t *span);

// Ends the span of this number that began last. Never blocks.
weft_status weft_span_end(const weft_job *job, uint32_t span);

// Gives all counters of this rank, one after the other, to the callback. Later versions may have
// more of them. In a job for packets those of messages are 0. Never blocks.
weft_status weft_statistics_each(const weft_job *job,
                                 weft_statistic_callback callback,
                                 void *user);

// Says whether this job goes on after a loss, as weft run --on-loss continue has it; if not, the
// first loss ends it. Never blocks.
weft_status weft_goes_on(const weft_job *job, bool *goes_on);

// Losses that this rank has heard of, the first one first, in a job that goes on after them; none
// in others. count is how many there are, of which at most room come to losses, the first ones;
// losses may be null if room is 0. Never blocks.
weft_status weft_losses(const weft_job *job, weft_loss *losses, size_t room, size_t *count);

// Adds amount to a variable of 64 bits that rank home keeps, and gives what it held before, if
// before is not null. Programs have the variables 0 to 64511 of each rank, which cost nothing
// unless they are used; all begin with 0. Additions go round. The home serves the variable without
// its program. Atomic across the job: this and the functions like it take place one after the
// other. Blocks for a round trip at most.
weft_status weft_fetch_and_add(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t amount,
                               uint64_t *before);

// Does what weft_fetch_and_add() does, but makes the variable desired if it is expected, and
// leaves it alone if it is anything else: it was made desired if before is expected.
weft_status weft_compare_and_swap(const weft_job *job,
                                  uint32_t home,
                                  uint32_t index,
                                  uint64_t expected,
                                  uint64_t desired,
                                  uint64_t *before);

// Does what weft_fetch_and_add() does, but makes the variable value.
weft_status weft_swap(const weft_job *job,
                      uint32_t home,
                      uint32_t index,
                      uint64_t value,
                      uint64_t *before);

// Does what weft_fetch_and_add() does, but makes the variable the smaller of itself and value.
weft_status weft_fetch_and_min(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t value,
                               uint64_t *before);

// Does what weft_fetch_and_add() does, but makes the variable the larger of itself and value.
weft_status weft_fetch_and_max(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t value,
                               uint64_t *before);

// Does what weft_fetch_and_add() does, but leaves set the bits that mask has, too.
weft_status weft_fetch_and_and(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t mask,
                               uint64_t *before);

// Does what weft_fetch_and_add() does, but sets the bits that mask has.
weft_status weft_fetch_and_or(const weft_job *job,
                              uint32_t home,
                              uint32_t index,
                              uint64_t mask,
                              uint64_t *before);

// Does what weft_fetch_and_add() does, but changes the bits that mask has.
weft_status weft_fetch_and_xor(const weft_job *job,
                               uint32_t home,
                               uint32_t index,
                               uint64_t mask,
                               uint64_t *before);

// Sets what is called for each packet that arrives, in place of what was set before; user is
// handed to it, and must live until the job is left. Packets wait while nothing is set. Messages
// and regions are not among them, which a job may use beside packets.
weft_status weft_packet_receive(const weft_job *job, weft_packet_callback callback, void *user);

// Most bytes that a packet holds. Never blocks.
weft_status weft_packet_capacity(const weft_job *job, size_t *capacity);

// A packet to fill with weft_packet_put(). It is the caller's, who gives it back by sending or
// discarding it. Blocks while all packets are on their way; callbacks run meanwhile.
weft_status weft_packet_alloc(const weft_job *job, weft_packet **packet);

// Appends bytes to a packet. If they do not fit it is WEFT_TOO_LONG, and the packet stays as it
// was. Never blocks.
weft_status weft_packet_put(weft_packet *packet, const void *bytes, size_t length);

// Sends a packet to rank to, and frees it, even when it fails. Never blocks.
weft_status weft_packet_unicast(weft_packet *packet, uint32_t to);

// Sends a packet to all ranks but this one, and frees it, even when it fails. Never blocks.
weft_status weft_packet_broadcast(weft_packet *packet);

// Sends a packet to all members of the group but this rank, which has to be one, and frees it,
// even when it fails. Never blocks.
weft_status weft_packet_multicast(weft_packet *packet, const weft_group *group);

// Frees a packet without sending it. Never blocks.
weft_status weft_packet_discard(weft_packet *packet);

// Bytes of a packet that has arrived, and its sender. Nothing is copied. Never blocks.
weft_status weft_arrival_view(const weft_arrival *arrival, weft_view *view);

// Keeps a packet beyond its callback, where it lies. It is then the caller's, to be released with
// weft_arrival_release(), and the callback's own pointer leads to nothing any more. Its sender
// gets the credit back on release: who keeps many stops senders. Never blocks.
weft_status weft_arrival_keep(weft_arrival *arrival, weft_arrival **kept);

// Releases a packet that was kept. Never blocks.
weft_status weft_arrival_release(weft_arrival *arrival);

// Creates a multicast group of count ranks. All ranks create the same groups in the same order,
// before they use them, members or not. Members that overlap with another group's can deadlock.
// The group is the caller's, to be freed with weft_group_free(). Never blocks.
weft_status weft_group_create(const weft_job *job,
                              const uint32_t *ranks,
                              size_t count,
                              weft_group **group);

// Frees what stands for a group in this program. The job keeps the group itself. Never blocks.
weft_status weft_group_free(weft_group *group);

// Creates the port of a name, whose messages the callback gets; user is handed to it, and must
// live until the port is destroyed. Every rank that receives on a port creates it under the same
// name; messages that come before that wait. The port is the caller's, to be given back to
// weft_port_destroy(). Never blocks, but the callback may run before it returns.
weft_status weft_port_create(const weft_job *job,
                             const char *name,
                             weft_port_callback callback,
                             void *user,
                             weft_port **port);

// Does what weft_port_create() does, but the callback runs on a thread of its own for each
// message, which may wait for anything, other messages too. Messages are handled in any order,
// several at once.
weft_status weft_port_create_popup(const weft_job *job,
                                   const char *name,
                                   weft_port_callback callback,
                                   void *user,
                                   weft_port **port);

// Creates the port of a name without a callback: its messages wait to be asked for. The port is
// the caller's, to be given back to weft_port_destroy(). Never blocks.
weft_status weft_mailbox_create(const weft_job *job, const char *name, weft_port **port);

// Destroys a port; messages that wait at it are skipped. Waits for callbacks that other threads
// run; the caller holds nothing that they wait for. Not to be called in a callback.
weft_status weft_port_destroy(weft_port *port);

// Has messages of so many bytes and more that are sent here to one rank wait for their reader: the
// receiver is asked first, and the bytes leave when it reads, so that what it has not begun to
// read takes no memory there. Each takes a round trip more. 0, as at first: none waits. Never
// blocks.
weft_status weft_port_rendezvous_from(const weft_port *port, size_t bytes);

// Sends a message to the port of the same name at rank to. Returns when all of it is in packets;
// the receiver may be reading by then. Blocks, draining the network, while it has no credits, and,
// if the message is to wait for its reader, until there is one.
weft_status weft_port_send(const weft_port *port, uint32_t to, const void *bytes, size_t length);

// Does what weft_port_send() does, for a message in count pieces, which are gathered into packets.
weft_status weft_port_sendv(const weft_port *port,
                            uint32_t to,
                            const weft_iov *pieces,
                            size_t count);

// Does what weft_port_send() does, for a message with a key, by which its receiver may select it.
weft_status weft_port_send_keyed(const weft_port *port,
                                 uint32_t to,
                                 uint64_t key,
                                 const void *bytes,
                                 size_t length);

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

// Does what weft_mailbox_receive() does, but never blocks: the message is null if there is none.
// Polls once.
weft_status weft_mailbox_try_receive(const weft_port *port, weft_message **message);

// Does what weft_mailbox_receive() does, but blocks for so many nanoseconds at most: then it is
// WEFT_TIMED_OUT, and the message is null.
weft_status weft_mailbox_receive_within(const weft_port *port,
                                        uint64_t nanoseconds,
                                        weft_message **message);

// Does what weft_mailbox_receive() does, for the message that has waited longest of those of one
// sender and with one key: source may be WEFT_ANY_RANK, and key null for any. Others stay, in
// their order; they count towards their senders' windows.
weft_status weft_mailbox_receive_selected(const weft_port *port,
                                          uint32_t source,
                                          const uint64_t *key,
                                          weft_message **message);

// Does what weft_mailbox_receive_selected() does, but blocks for so many nanoseconds at most: then
// it is WEFT_TIMED_OUT, and the message is null.
weft_status weft_mailbox_receive_selected_within(const weft_port *port,
                                                 uint32_t source,
                                                 const uint64_t *key,
                                                 uint64_t nanoseconds,
                                                 weft_message **message);

// Does what weft_mailbox_receive() does, but copies the message to a buffer with room for capacity
// bytes, and gives its length, and its sender if source is not null. Blocks until all of it is
// there. The cheapest way to receive messages whose length is known: a short one is copied where
// it lies. A message that is longer than the room is WEFT_TOO_LONG, and is dropped. What is in the
// buffer behind the message, or after an error, is not defined.
weft_status weft_mailbox_receive_into(const weft_port *port,
                                      void *buffer,
                                      size_t capacity,
                                      size_t *length,
                                      uint32_t *source);

// Does what weft_mailbox_receive_into() does, but blocks for so many nanoseconds at most, until
// the first packet of a message is there: then it is WEFT_TIMED_OUT, and the buffer is what it
// was.
weft_status weft_mailbox_receive_into_within(const weft_port *port,
                                             void *buffer,
                                             size_t capacity,
                                             uint64_t nanoseconds,
                                             size_t *length,
                                             uint32_t *source);

// The rank that sent a message. Never blocks.
weft_status weft_message_source(weft_message *message, uint32_t *source);

// The key that a message was sent with. WEFT_INVALID if it has none, or if its first packet was
// read to its end. Never blocks.
weft_status weft_message_key(weft_message *message, uint64_t *key);

// Length of a message in bytes, read or not, arrived or not. Never blocks.
weft_status weft_message_length(weft_message *message, size_t *length);

// Number of bytes of a message that were not read yet. Never blocks.
weft_status weft_message_remaining(weft_message *message, size_t *remaining);

// Copies the next bytes of a message to a buffer with room for them. If it has fewer left it is
// WEFT_TOO_SHORT, and none is read. Blocks, polling, until they have arrived.
weft_status weft_message_read(weft_message *message, void *buffer, size_t length);

// The next bytes of a message that lie together, without copying them; none at its end. They are
// valid until they are consumed, or the message is used in another way. Blocks, polling, until
// there are any.
weft_status weft_message_chunk(weft_message *message, const void **bytes, size_t *length);

// Marks count bytes of the last chunk as read. Never blocks.
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

// Creates the service of a name, whose requests the callback gets; user is handed to it, and must
// live until the service is destroyed. Before clients of it at the same rank. The service is the
// caller's, to be given back to weft_service_destroy(). Never blocks, but the callback may run
// before it returns.
weft_status weft_service_create(const weft_job *job,
                                const char *name,
                                weft_service_callback callback,
                                void *user,
                                weft_service **service);

// Ends a service and frees it; requests that wait are not answered. Waits for a callback that
// another thread runs. Not to be called in a callback.
weft_status weft_service_destroy(weft_service *service);

// The rank that asks. Never blocks.
weft_status weft_request_source(weft_request *request, uint32_t *source);

// Content of a request: its own message, to be read as others are. It is valid until the request
// is answered, kept or released, and is itself neither kept nor released. Never blocks.
weft_status weft_request_message(weft_request *request, weft_message **message);

// Tells if the caller waits no more: then an answer is not even sent. Never blocks.
weft_status weft_request_cancelled(weft_request *request, bool *cancelled);

// Answers a request, which is used up, even when it fails: a kept one is left to be released. What
// was not read of it is skipped. Blocks as weft_port_send() does.
weft_status weft_request_reply(weft_request *request, const void *bytes, size_t length);

// Does what weft_request_reply() does, with an answer in count pieces.
weft_status weft_request_replyv(weft_request *request, const weft_iov *pieces, size_t count);

// Answers that what was asked cannot be done: the caller gets WEFT_CALL_FAILED, with this text,
// cut to what fits into a packet. Else as weft_request_reply().
weft_status weft_request_fail(weft_request *request, const char *text);

// Keeps a request beyond its callback, to be answered later, from any thread. It is then the
// caller's, to be released with weft_request_release(), and the callback's own pointer leads to
// nothing any more, as does that to its message. Never blocks.
weft_status weft_request_keep(weft_request *request, weft_request **kept);

// Releases a request that was kept. Whoever waits for its answer, if there was none, gets
// WEFT_NO_REPLY. Never blocks.
weft_status weft_request_release(weft_request *request);

// Creates a client of the service of a name, which the ranks that are called have to have. The
// client is the caller's, to be freed with weft_client_free(). Never blocks.
weft_status weft_client_create(const weft_job *job, const char *name, weft_client **client);

// Frees a client. Calls that it began go on. Never blocks.
weft_status weft_client_free(weft_client *client);

// Asks the service at rank to, and gives the answer; it is the caller's, to be released with
// weft_message_release(). Blocks until it begins to arrive; callbacks run meanwhile.
weft_status weft_call(const weft_client *client,
                      uint32_t to,
                      const void *bytes,
                      size_t length,
                      weft_message **answer);

// Does what weft_call() does, but blocks for so many nanoseconds at most: then it is
// WEFT_TIMED_OUT, and the call is cancelled.
weft_status weft_call_within(const weft_client *client,
                             uint32_t to,
                             const void *bytes,
                             size_t length,
                             uint64_t nanoseconds,
                             weft_message **answer);

// Asks the service at rank to, in count pieces, and returns when all of them are in packets. Any
// number of calls may be under way. The call is the caller's, who ends it by waiting or
// cancelling. Blocks as weft_port_send() does.
weft_status weft_call_begin(const weft_client *client,
                            uint32_t to,
                            const weft_iov *pieces,
                            size_t count,
                            weft_pending_call **call);

// Tells if a call is over, well or not, so that weft_call_wait() does not block. Polls once.
weft_status weft_call_test(weft_pending_call *call, bool *done);

// Waits for the answer to a call, and frees the call, even when it fails. The answer is the
// caller's, as that of weft_call(). Blocks until it begins to arrive; callbacks run meanwhile.
weft_status weft_call_wait(weft_pending_call *call, weft_message **answer);

// Gives up on a call and frees it. The service is told, which may have begun; an answer that comes
// late is skipped. Never blocks.
weft_status weft_call_cancel(weft_pending_call *call);

// Creates the order of a name among all ranks, whose messages the callback gets; user is handed to
// it, and must live until the order is destroyed. All ranks create the same orders, one after the
// other in the same order. The order is the caller's, to be given back to weft_order_destroy().
// Never blocks, but the callback may run before it returns.
weft_status weft_order_create(const weft_job *job,
                              const char *name,
                              weft_order_callback callback,
                              void *user,
                              weft_order **order);

// Does what weft_order_create() does, and calls lost for each member that is lost, if it is not
// null, in a job that goes on after losses.
weft_status weft_order_create_with_losses(const weft_job *job,
                                          const char *name,
                                          weft_order_callback callback,
                                          weft_order_loss_callback lost,
                                          void *user,
                                          weft_order **order);

// Does what weft_order_create() does, among count ranks. All ranks of the job call it, members or
// not; those that are none cannot broadcast, and their callbacks are never called. What others
// broadcast before this rank calls it waits. Members that overlap with another group's can
// deadlock where multicast has trees; shared memory has none.
weft_status weft_order_create_in(const weft_job *job,
                                 const char *name,
                                 const uint32_t *ranks,
                                 size_t count,
                                 weft_order_callback callback,
                                 void *user,
                                 weft_order **order);

// Ends this rank's part in an order and frees it; all members must be done with it. Waits for a
// callback that another thread runs. Not to be called in a callback.
weft_status weft_order_destroy(weft_order *order);

// Members of an order, in ascending order; in a job that goes on after losses those that live, as
// of the messages and losses that this rank's callbacks have had: all members see the same there.
// count is how many they are, of which at most room come to ranks, the first ones; ranks may be
// null if room is 0. Never blocks.
weft_status weft_order_members(const weft_order *order,
                               uint32_t *ranks,
                               size_t room,
                               size_t *count);

// Broadcasts a message in count pieces to all members, this rank included, and gives its number if
// number is not null. Returns when it is sent. Blocks, while callbacks run, as long as too many of
// this rank's broadcasts are not consumed everywhere; not in the callback of an order, where too
// many are WEFT_OVERDRAWN.
weft_status weft_order_broadcast(const weft_order *order,
                                 const weft_iov *pieces,
                                 size_t count,
                                 uint64_t *number);

// Does what weft_order_broadcast() does, and returns when this rank's callback has returned from
// this message, and so from all before it. In the callback of the same order it is
// WEFT_WAITS_FOR_ITSELF.
weft_status weft_order_broadcast_and_wait(const weft_order *order,
                                          const weft_iov *pieces,
                                          size_t count,
                                          uint64_t *number);

// The team of all ranks that the job began with, whose members are numbered as they are; at a rank
// that came later the team that has grown by it. It is the caller's, to be freed
// with weft_team_free(). Never blocks.
weft_status weft_team_all(const weft_job *job, weft_team **team);

// The team of count ranks, in this order; null if this rank is not one of them. All ranks make the
// same teams in the same order, with groups among them, members or not. The team is the caller's,
// to be freed with weft_team_free(). Never blocks.
weft_status weft_team_create(const weft_job *job,
                             const uint32_t *ranks,
                             size_t count,
                             weft_team **team);

// The part of a team whose members have this colour, ordered by key, and by their order in the
// team if keys are equal; null if the colour is WEFT_NO_COLOUR. All members of the team call it,
// and no other ranks. The part is the caller's, to be freed with weft_team_free(). Blocks until
// all members have called it; callbacks run meanwhile.
weft_status weft_team_split(const weft_team *team, uint32_t colour, uint32_t key, weft_team **part);

// Frees what stands for a team in this program. Never blocks.
weft_status weft_team_free(weft_team *team);

// This rank's number in a team. Never blocks.
weft_status weft_team_rank(const weft_team *team, uint32_t *rank);

// Number of members of a team. Never blocks.
weft_status weft_team_size(const weft_team *team, uint32_t *size);

// Returns when all members have called it as often as this one. As all operations of a team that
// do not begin one: blocks; callbacks run meanwhile.
weft_status weft_team_barrier(const weft_team *team);

// Gives all members the count values of member root.
weft_status weft_broadcast(const weft_team *team,
                           uint32_t root,
                           void *values,
                           size_t count,
                           weft_type of);

// Combines the count values of all members, one by one: values are the result at member root
// afterwards, and elsewhere what they were.
weft_status weft_reduce(const weft_team *team,
                        uint32_t root,
                        void *values,
                        size_t count,
                        weft_type of,
                        weft_operation operation);

// Combines the count values of all members, one by one, and gives all of them the same result.
weft_status weft_all_reduce(const weft_team *team,
                            void *values,
                            size_t count,
                            weft_type of,
                            weft_operation operation);

// Brings the count values of all members, one member's after the other's, to member root: to all,
// which has room for them there and may be null elsewhere.
weft_status weft_gather(const weft_team *team,
                        uint32_t root,
                        const void *values,
                        size_t count,
                        weft_type of,
                        void *all);

// Gives each member its part of what member root has, count values for each, one member's after
// the other's: from all, which may be null elsewhere, to values.
weft_status weft_scatter(const weft_team *team,
                         uint32_t root,
                         const void *all,
                         void *values,
                         size_t count,
                         weft_type of);

// Brings the count values of all members, one member's after the other's, to all of them: to all,
// which has room for them.
weft_status weft_all_gather(const weft_team *team,
                            const void *values,
                            size_t count,
                            weft_type of,
                            void *all);

// Gives each member count of the values of each: those for member 0 first. Those for this one come
// to received, in the order of members. Both hold count values for each member.
weft_status weft_all_to_all(const weft_team *team,
                            const void *values,
                            size_t count,
                            weft_type of,
                            void *received);

// Begins a barrier. As all that begin an operation: what it brings is copied, and the outcome is
// the caller's, who ends it with weft_pending_wait() or weft_pending_free(). It goes on by itself,
// whenever this rank polls, waits or is interrupted, and can be started again with
// weft_pending_start(). Never blocks.
weft_status weft_barrier_begin(const weft_team *team, weft_pending **pending);

// Begins a weft_broadcast(): values may be null but at member root.
weft_status weft_broadcast_begin(const weft_team *team,
                                 uint32_t root,
                                 const void *values,
                                 size_t count,
                                 weft_type of,
                                 weft_pending **pending);

// Begins a weft_reduce(), which gives its result at member root, and elsewhere nothing.
weft_status weft_reduce_begin(const weft_team *team,
                              uint32_t root,
                              const void *values,
                              size_t count,
                              weft_type of,
                              weft_operation operation,
                              weft_pending **pending);

// Begins a weft_all_reduce().
weft_status weft_all_reduce_begin(const weft_team *team,
                                  const void *values,
                                  size_t count,
                                  weft_type of,
                                  weft_operation operation,
                                  weft_pending **pending);

// Begins a weft_gather(), which gives what all brought at member root, and elsewhere nothing.
weft_status weft_gather_begin(const weft_team *team,
                              uint32_t root,
                              const void *values,
                              size_t count,
                              weft_type of,
                              weft_pending **pending);

// Begins a weft_scatter(), of count values to each: all may be null but at member root.
weft_status weft_scatter_begin(const weft_team *team,
                               uint32_t root,
                               const void *all,
                               size_t count,
                               weft_type of,
                               weft_pending **pending);

// Begins a weft_all_gather().
weft_status weft_all_gather_begin(const weft_team *team,
                                  const void *values,
                                  size_t count,
                                  weft_type of,
                                  weft_pending **pending);

// Begins a weft_all_to_all(), of count values to each.
weft_status weft_all_to_all_begin(const weft_team *team,
                                  const void *values,
                                  size_t count,
                                  weft_type of,
                                  weft_pending **pending);

// Gives the team of the members of this one, in their order, and of count more ranks behind them,
// which the launcher starts as further processes of this program, with the same arguments; it is
// to be freed as any other. All members call it, with the same count; it blocks until all have and
// the processes are being started; callbacks run meanwhile. They join later: operations of the new
// team wait for them, and to them it is what weft_team_all() gives. WEFT_JOB_FULL, at all members,
// if there is no room for so many (weft run --room); if left is not null it is set to how many
// there is room for then.
weft_status weft_team_grow(const weft_job *job,
                           const weft_team *team,
                           uint32_t count,
                           weft_team **grown,
                           uint32_t *left);

// Gives the team of the members of this one, in their order, and behind them of ranks that have
// come by the job's door (weft run --door): as many of most as wait there, and at least so many of
// them as least says, for which it waits. So 0 and 4 ask who is there, and 1 and 1 wait for one.
// All members call it, with the same numbers; else it does what weft_team_grow() does.
// WEFT_INVALID, at all members, if the job has no door, or least is more than most.
weft_status weft_team_admit(const weft_job *job,
                            const weft_team *team,
                            uint32_t least,
                            uint32_t most,
                            weft_team **grown,
                            uint32_t *left);

// Gives the team of the members that live, in their order in this one, which is to be freed as any
// other. All that live call it, once they hear of a loss by an operation that has failed or by
// weft_team_lost(); all of them get the same team, without those that any of them knows to be
// lost. Others may be lost next, of which its operations tell. It may be called although nobody is
// lost. WEFT_CALLS_DIFFER if others agree, or leave. Blocks until all that live have called it;
// callbacks run meanwhile.
weft_status weft_team_shrink(const weft_team *team, weft_team **shrunk);

// Agrees with all members that live about flags and about who is lost. All of them call it, and
// get the same: agreed is their flags combined by bitwise and, those of a rank that was lost
// meanwhile perhaps among them; count is how many members are lost, of which at most room come
// to lost, in the order of ranks, as ranks of the job; lost may be null if room is 0. It is of
// use where operations of the team fail already. WEFT_CALLS_DIFFER if others
// shrink the team, or leave. Blocks until all that live have called it; callbacks run meanwhile.
weft_status weft_team_agree(const weft_team *team,
                            uint32_t flags,
                            uint32_t *agreed,
                            uint32_t *lost,
                            size_t room,
                            size_t *count);

// Members that are lost, as far as this rank has heard; others may have heard of others. count is
// how many there are, of which at most room come to lost, in the order of ranks, as ranks of the
// job; lost may be null if room is 0. Never blocks.
weft_status weft_team_lost(const weft_team *team, uint32_t *lost, size_t room, size_t *count);

// Creates a counter that the members of a team share. All of them call it. It is the caller's, to
// be freed with weft_counter_free(). WEFT_CALLS_DIFFER if others call something else of counters.
// Blocks until all members have called it; callbacks run meanwhile.
weft_status weft_counter_create(const weft_team *team, weft_counter **counter);

// Gets a share of the counter that other members move to this team: at members that have none,
// such as ranks that came later. It is the caller's, to be freed with weft_counter_free(). Fails
// and blocks as weft_counter_move() does.
weft_status weft_counter_join(const weft_team *team, weft_counter **counter);

// Adds amount to a counter, and gives its value before, if before is not null. Of the additions
// that have gone well at ranks that live no two overlap, and values never go down, whoever is
// lost. WEFT_RANK_LOST if the counter's home is lost, where ranks do not share memory. Blocks for
// a round trip at most.
weft_status weft_counter_add(const weft_counter *counter, uint64_t amount, uint64_t *before);

// Moves a counter to a team that its own has been shrunk to or has grown to, and whose first
// member is its home then. All members call it, or weft_counter_join() if they have none. It goes
// well at all that live or at none: then the counter is where it was, and may be moved to a
// smaller team. WEFT_CALLS_DIFFER if not all bring the same counter; WEFT_INVALID if a rank that
// lives and shares it is not in the team. Blocks until all members have called it; callbacks run
// meanwhile.
weft_status weft_counter_move(weft_counter *counter, const weft_team *team);

// Frees what stands for a counter in this program. Never blocks.
weft_status weft_counter_free(weft_counter *counter);

// Does what weft_gather() does, of as many values as each member wants to bring. At member root
// all has room for capacity values, and counts, which may be null, for as many numbers as there
// are members: how many values each brought. If there is no room for all values it is
// WEFT_TOO_LONG, and no values are there.
weft_status weft_gatherv(const weft_team *team,
                         uint32_t root,
                         const void *values,
                         size_t count,
                         weft_type of,
                         void *all,
                         size_t capacity,
                         size_t *counts);

// Does what weft_scatter() does, of any number of values for each member: at member root counts
// has as many numbers as there are members, and all the values, which may both be null elsewhere.
// There is room for capacity values in values; received, which may be null, gets how many came. If
// there is no room for all of them it is WEFT_TOO_LONG, and no values are there.
weft_status weft_scatterv(const weft_team *team,
                          uint32_t root,
                          const void *all,
                          const size_t *counts,
                          weft_type of,
                          void *values,
                          size_t capacity,
                          size_t *received);

// Does what weft_gatherv() does, and gives all members the values.
weft_status weft_all_gatherv(const weft_team *team,
                             const void *values,
                             size_t count,
                             weft_type of,
                             void *all,
                             size_t capacity,
                             size_t *counts);

// Gives each member as many of the values of each as counts says, which has a number for each
// member; those for member 0 are first. Those for this one come to received, in the order of
// members, which has room for capacity of them; came, which may be null, gets how many each member
// had. If there is no room for all of them it is WEFT_TOO_LONG, and none are there.
weft_status weft_all_to_allv(const weft_team *team,
                             const void *values,
                             const size_t *counts,
                             weft_type of,
                             void *received,
                             size_t capacity,
                             size_t *came);

// Begins a weft_gatherv(). As of all that begin an operation with lengths that members choose:
// weft_pending_finishv() gives its result, and weft_pending_free() ends it.
weft_status weft_gatherv_begin(const weft_team *team,
                               uint32_t root,
                               const void *values,
                               size_t count,
                               weft_type of,
                               weft_pending **pending);

// Begins a weft_scatterv(): all and counts may be null but at member root.
weft_status weft_scatterv_begin(const weft_team *team,
                                uint32_t root,
                                const void *all,
                                const size_t *counts,
                                weft_type of,
                                weft_pending **pending);

// Begins a weft_all_gatherv().
weft_status weft_all_gatherv_begin(const weft_team *team,
                                   const void *values,
                                   size_t count,
                                   weft_type of,
                                   weft_pending **pending);

// Begins a weft_all_to_allv().
weft_status weft_all_to_allv_begin(const weft_team *team,
                                   const void *values,
                                   const size_t *counts,
                                   weft_type of,
                                   weft_pending **pending);

// Combines the count values of the members up to this one and its own, one by one and in the order
// of members: values are the result afterwards.
weft_status weft_scan(const weft_team *team,
                      void *values,
                      size_t count,
                      weft_type of,
                      weft_operation operation);

// Combines the count values of the members before this one, without its own, as weft_scan() does.
// There are none before member 0, whose values stay what they were.
weft_status weft_exscan(const weft_team *team,
                        void *values,
                        size_t count,
                        weft_type of,
                        weft_operation operation);

// Begins a weft_scan().
weft_status weft_scan_begin(const weft_team *team,
                            const void *values,
                            size_t count,
                            weft_type of,
                            weft_operation operation,
                            weft_pending **pending);

// Begins a weft_exscan(), which gives member 0 nothing.
weft_status weft_exscan_begin(const weft_team *team,
                              const void *values,
                              size_t count,
                              weft_type of,
                              weft_operation operation,
                              weft_pending **pending);

// Does what weft_reduce() does, with count elements of bytes bytes each and a function.
weft_status weft_reduce_by(const weft_team *team,
                           uint32_t root,
                           void *values,
                           size_t count,
                           size_t bytes,
                           weft_combine combine,
                           void *user);

// Does what weft_all_reduce() does, with count elements of bytes bytes each and a function.
weft_status weft_all_reduce_by(const weft_team *team,
                               void *values,
                               size_t count,
                               size_t bytes,
                               weft_combine combine,
                               void *user);

// Does what weft_scan() does, with count elements of bytes bytes each and a function.
weft_status weft_scan_by(const weft_team *team,
                         void *values,
                         size_t count,
                         size_t bytes,
                         weft_combine combine,
                         void *user);

// Does what weft_exscan() does, with count elements of bytes bytes each and a function.
weft_status weft_exscan_by(const weft_team *team,
                           void *values,
                           size_t count,
                           size_t bytes,
                           weft_combine combine,
                           void *user);

// Begins a weft_reduce_by(). As of all that begin an operation with a function: what user points
// to must live until the operation is over at all members, even if its outcome is freed.
weft_status weft_reduce_by_begin(const weft_team *team,
                                 uint32_t root,
                                 const void *values,
                                 size_t count,
                                 size_t bytes,
                                 weft_combine combine,
                                 void *user,
                                 weft_pending **pending);

// Begins a weft_all_reduce_by().
weft_status weft_all_reduce_by_begin(const weft_team *team,
                                     const void *values,
                                     size_t count,
                                     size_t bytes,
                                     weft_combine combine,
                                     void *user,
                                     weft_pending **pending);

// Begins a weft_scan_by().
weft_status weft_scan_by_begin(const weft_team *team,
                               const void *values,
                               size_t count,
                               size_t bytes,
                               weft_combine combine,
                               void *user,
                               weft_pending **pending);

// Begins a weft_exscan_by(), which gives member 0 nothing.
weft_status weft_exscan_by_begin(const weft_team *team,
                                 const void *values,
                                 size_t count,
                                 size_t bytes,
                                 weft_combine combine,
                                 void *user,
                                 weft_pending **pending);

// Tells if an operation is over, well or not, so that weft_pending_wait() does not block. Polls
// once.
weft_status weft_pending_test(weft_pending *pending, bool *done);

// Waits for an operation and frees it, even when it fails. Its result comes to values, which have
// room for it, and may be null if it gives this member nothing. Blocks; callbacks run meanwhile.
weft_status weft_pending_wait(weft_pending *pending, void *values);

// Does what weft_pending_wait() does, and keeps the operation, to be started again.
weft_status weft_pending_finish(weft_pending *pending, void *values);

// Waits for an operation with lengths that members choose, and keeps it. Its result comes to
// values, which have room for capacity of them, one member's after the other's; counts, if it is
// not null, has room for as many numbers as there are members (one for a scatter), and gets how
// many values each of them brought. If there is no room for all of them it is WEFT_TOO_LONG:
// counts are there, no values, and another call gives these. Blocks; callbacks run meanwhile.
weft_status weft_pending_finishv(weft_pending *pending,
                                 void *values,
                                 size_t capacity,
                                 size_t *counts);

// Starts an operation again, which is over: the same one, with as many values as at first, which
// are copied from values. The other members start it again too, or begin the same one. Never
// blocks.
weft_status weft_pending_start(weft_pending *pending, const void *values);

// Gives up on the result of an operation, which goes on all the same, and frees it. Never blocks.
weft_status weft_pending_free(weft_pending *pending);

// Takes part in the regions of a job, beside its messages and packets. All ranks do, once, before
// any of them maps a region. The result is the caller's, to be given back
// to weft_regions_close(). Never blocks.
weft_status weft_regions_open(const weft_job *job, weft_regions **regions);

// Ends it when all ranks have called it, and frees it, even when it fails. All regions are to be
// unmapped before. Blocks; other ranks are served meanwhile, as in all calls on regions that
// block.
weft_status weft_regions_close(weft_regions *regions);

// Returns when all ranks have called it as often as this one. Blocks. All ranks call this and the
// two functions below in the same order, from one thread at a time.
weft_status weft_regions_barrier(const weft_regions *regions);

// Gives all ranks the count values of rank root. Blocks.
weft_status weft_regions_broadcast(const weft_regions *regions,
                                   uint32_t root,
                                   void *values,
                                   size_t count,
                                   weft_type of);

// Combines the count values of all ranks, one by one, and gives all of them the same result.
// Blocks.
weft_status weft_regions_reduce(const weft_regions *regions,
                                void *values,
                                size_t count,
                                weft_type of,
                                weft_operation operation);

// Creates a region of so many bytes, all 0, of which this rank is the home, and gives its name.
// Other ranks have to be told the name to map it. Never blocks.
weft_status weft_region_create(const weft_regions *regions,
                               uint64_t bytes,
                               weft_hint hint,
                               weft_region_name *name);

// Maps a region, so that this rank may access it. Asks its home, if this rank does not know it,
// and blocks. It is the caller's, to be given back to weft_region_unmap() or weft_region_delete().
weft_status weft_region_map(const weft_regions *regions,
                            weft_region_name name,
                            weft_region **region);

// Frees a mapping. While accesses of it have not ended it is WEFT_INVALID, and frees nothing. What
// was written stays, and so does the copy here, as long as there is room. Never blocks.
weft_status weft_region_unmap(weft_region *region);

// Ends a region everywhere, once nobody is in it, and frees this mapping, even when it fails; but
// while accesses of it have not ended it is WEFT_INVALID, and frees nothing. Blocks.
weft_status weft_region_delete(weft_region *region);

// The size of a region in bytes. Never blocks.
weft_status weft_region_size(const weft_region *region, size_t *bytes);

// Starts to read a region: its bytes are valid, and nobody writes them, until
// weft_region_end_read(). They are aligned for any of weft_type. Accesses to read nest. Blocks
// while another rank writes.
weft_status weft_region_start_read(weft_region *region, const void **bytes);

// Ends the access to read that was started last. Never blocks.
weft_status weft_region_end_read(weft_region *region);

// Starts to write a region: this rank alone has its bytes, and may read and write them until
// weft_region_end_write(). They hold what was written last. Blocks while another rank is in the
// region.
weft_status weft_region_start_write(weft_region *region, void **bytes);

// Ends the access to write: others see what was written. Never blocks.
weft_status weft_region_end_write(weft_region *region);

// Asks for a copy to read before it is needed. Never blocks.
weft_status weft_region_prefetch(const weft_region *region);

// Gives up the copy that is here; what was written goes home. Never blocks.
weft_status weft_region_flush(const weft_region *region);

// Makes a queue for the notifications of receive buffers. It holds 1,024; senders who find it full
// wait, and with them all else that comes from their ranks. It is the caller's, to be freed with
// weft_notifications_free(). Never blocks.
weft_status weft_notifications_create(const weft_job *job, weft_notifications **notifications);

// Frees a queue, once the buffers that it was given to are closed. Never blocks.
weft_status weft_notifications_free(weft_notifications *notifications);

// The next notification, if there is one; any is set to whether there was. Takes what has arrived,
// callbacks run meanwhile. Never blocks.
weft_status weft_notification_poll(weft_notifications *notifications,
                                   weft_notification *notification,
                                   bool *any);

// The next notification. Blocks until there is one; callbacks run meanwhile.
weft_status weft_notification_wait(weft_notifications *notifications,
                                   weft_notification *notification);

// Offers a receive buffer of length bytes, all 0, to rank to, which may take it under the name,
// once, and then do what rights say. What it puts with notice is told to notifications. The buffer
// is the caller's, to be given back to weft_buffer_close(). Blocks only while all packets are on
// their way.
weft_status weft_buffer_offer(const weft_job *job,
                              const char *name,
                              uint32_t to,
                              size_t length,
                              weft_rights rights,
                              const weft_notifications *notifications,
                              weft_buffer **buffer);

// The number by which notifications name a buffer. Never blocks.
weft_status weft_buffer_number(const weft_buffer *buffer, uint32_t *number);

// Tells if the other side has taken a buffer, and not closed the connection. Never blocks.
weft_status weft_buffer_is_open(const weft_buffer *buffer, bool *open);

// First byte of a buffer, at a multiple of 64, for programs that know when nobody puts there. It
// stays there until the buffer is closed. Never blocks.
weft_status weft_buffer_start(const weft_buffer *buffer, void **start);

// Copies length bytes at offset of a buffer to into. No packet is placed meanwhile. Never blocks.
weft_status weft_buffer_read(const weft_buffer *buffer, size_t offset, void *into, size_t length);

// Copies length bytes to offset of a buffer, for the other side to get. Never blocks.
weft_status weft_buffer_write(const weft_buffer *buffer,
                              size_t offset,
                              const void *bytes,
                              size_t length);

// Closes a buffer and frees it: nothing is placed there any more, and the other side is told when
// it tries. Never blocks.
weft_status weft_buffer_close(weft_buffer *buffer);

// Takes the receive buffer that rank from offers to this one under the name; of several of that
// name, the one offered first. Blocks until there is one; callbacks run meanwhile, as in all calls
// on connections that block. The connection is the caller's, to be given back to
// weft_connection_close().
weft_status weft_connect(const weft_job *job,
                         const char *name,
                         uint32_t from,
                         weft_connection **connection);

// Does what weft_connect() does, but the connection is null if there is no such offer now. Never
// blocks.
weft_status weft_try_connect(const weft_job *job,
                             const char *name,
                             uint32_t from,
                             weft_connection **connection);

// The size in bytes of the buffer at the other end. Never blocks.
weft_status weft_connection_length(const weft_connection *connection, size_t *length);

// Puts length bytes at offset of the buffer. Returns when they may be changed; nobody is notified.
// A put that the other side has refused is WEFT_REFUSED at the next call. Blocks only while all
// packets are on their way.
weft_status weft_put(weft_connection *connection, size_t offset, const void *bytes, size_t length);

// Does what weft_put() does; the other side is notified, of word too, once these bytes are placed,
// and all that were put through this connection before. There may be none.
weft_status weft_put_notify(weft_connection *connection,
                            size_t offset,
                            const void *bytes,
                            size_t length,
                            uint32_t word);

// Gets length bytes at offset of the buffer, after all that was put through this connection
// before. The other side's program takes no part. Blocks until they are there.
weft_status weft_get(weft_connection *connection, size_t offset, void *into, size_t length);

// Waits until all that was put through a connection is placed, or was refused.
weft_status weft_connection_flush(weft_connection *connection);

// Closes a connection and frees it. What was put is placed before the other side is told. Never
// blocks.
weft_status weft_connection_close(weft_connection *connection);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WEFT_H */
