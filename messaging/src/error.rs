//! Errors of messages.

use weft_endpoint::{Cause, Loss, Rank};

/// An error of the messaging layer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something below went wrong; a lost rank above all.
    #[error(transparent)]
    Packet(#[from] weft_endpoint::Error),
    /// Two ports of one name.
    #[error("there is a port '{0}' already")]
    PortTaken(String),
    /// Two names that hash to one number.
    #[error("the port names '{0}' and '{1}' collide; rename one of them")]
    PortCollision(String, String),
    /// A message ended before the bytes that were asked for.
    #[error("the message from rank {from} has {left} bytes left, {wanted} were asked for")]
    Short {
        /// Its sender.
        from: Rank,
        /// Bytes that are left.
        left: u64,
        /// Bytes asked for.
        wanted: u64,
    },
    /// A message that is longer than the room for it. It was dropped.
    #[error("the message from rank {from} has {length} bytes, and there was room for {room}")]
    NoRoom {
        /// Its sender.
        from: Rank,
        /// Its bytes.
        length: u64,
        /// Bytes that there was room for.
        room: usize,
    },
    /// More ranks than the job has room for.
    #[error(
        "there is no room for {asked} more ranks, but for {left}: `weft run --room` says how many a job has at most"
    )]
    JobIsFull {
        /// Number of ranks asked for.
        asked: u16,
        /// Number of ranks that there is room for.
        left: u16,
    },
    /// Ranks that were to be let in to a job without a door.
    #[error("the job has no door: `weft run --room P --door FILE` opens one")]
    NoDoor,
    /// The growth of a team by this rank has failed, because it lost a member meanwhile.
    #[error("the team that this rank was to come to has lost a member: it is not needed")]
    Withdrawn,
    /// Ranks that were not started, at a rank that had asked for them.
    #[error("rank {by} asked for more ranks, and the launcher did not start them")]
    NotSpawned {
        /// The rank that has asked.
        by: Rank,
    },
    /// A message that is not UTF-8.
    #[error("the message from rank {from} is no text: {error}")]
    NotText {
        /// Its sender.
        from: Rank,
        /// The place where it stops being text.
        error: std::str::Utf8Error,
    },
    /// A packet that belongs to no message.
    #[error("rank {from} sent a packet that belongs to no message")]
    Stray {
        /// Its sender.
        from: Rank,
    },
    /// A peer that sent a system on messages what no rank sends.
    #[error("rank {from} broke the protocol of {system}: {what}")]
    Violation {
        /// Its sender.
        from: Rank,
        /// The system, in words.
        system: &'static str,
        /// The breach.
        what: &'static str,
    },
    /// A message whose sender gave it up: it dropped the future that was sending it, or was
    /// refused.
    #[error("rank {from} gave up its message after {sent} of {length} bytes")]
    GivenUp {
        /// Its sender.
        from: Rank,
        /// Bytes that were sent.
        sent: u64,
        /// Bytes that it was to have.
        length: u64,
    },
    /// A peer that begins message after message and ends none.
    #[error("rank {from} has begun {limit} messages and ended none of them")]
    Unfinished {
        /// Their sender.
        from: Rank,
        /// Largest number of them.
        limit: usize,
    },
    /// A peer that asks and asks, and takes none of the answers.
    #[error("rank {from} has {limit} answers to take, and asks for more; the job cannot go on")]
    Unanswered {
        /// The rank that asks.
        from: Rank,
        /// Largest number of answers.
        limit: usize,
    },
    /// A peer that sends to any number of ports.
    #[error("rank {from} has sent to {limit} ports that this rank has not created")]
    UnmadePorts {
        /// The sender.
        from: Rank,
        /// Largest number of them.
        limit: usize,
    },
    /// A handler panicked. Its port takes no more messages; everything else goes on.
    #[error("the handler of port '{port}' panicked on a message from rank {from}: {what}")]
    Panicked {
        /// The port.
        port: String,
        /// The sender of the message.
        from: Rank,
        /// Text of the panic.
        what: String,
    },
    /// A task panicked.
    #[error("a task panicked: {0}")]
    TaskPanicked(String),
    /// A message cannot be read into memory at once.
    #[error(
        "there is no memory for {bytes} bytes of the message from rank {from}: read it in pieces"
    )]
    NoMemory {
        /// Its sender.
        from: Rank,
        /// Bytes asked for.
        bytes: u64,
    },
    /// The receiver has no such port, and what was sent to it fills its window.
    #[error("rank {rank} has no port '{port}': every rank that receives on a port creates it")]
    NoPort {
        /// The receiver.
        rank: Rank,
        /// The port.
        port: String,
    },
    /// Messages for a port that this rank never created, when it leaves.
    #[error("rank {from} sent {messages} message{s} to a port that this rank never created", s = plural(*messages))]
    Unclaimed {
        /// The first sender.
        from: Rank,
        /// Messages that wait.
        messages: usize,
    },
    /// The time in which the awaited did not come.
    #[error("nothing came within {0:?}")]
    TimedOut(std::time::Duration),
    /// The handle that was to complete an operation was dropped without doing so.
    #[error("the operation was abandoned by what should have completed it")]
    Abandoned,
    /// Calls of the members of a team that do not go together, in a job that goes on after a loss.
    #[error(
        "the other members of this team that live do not {0}: after a loss all of them call the same"
    )]
    CallsDiffer(&'static str),
    /// Headers that take more room than a packet has.
    #[error("{size} bytes of headers do not fit into a packet; there is room for {max}")]
    Headers {
        /// The bytes pushed.
        size: usize,
        /// Largest number that fits.
        max: usize,
    },
    /// A peer that breaks an order.
    #[error("rank {from} broadcast number {number} of the order '{order}', {what}")]
    Disorder {
        /// The order.
        order: String,
        /// Its sender.
        from: Rank,
        /// The number.
        number: u64,
        /// The fault in its number.
        what: crate::Disorder,
    },
    /// More orders than there are variables for them.
    #[error("this job has {limit} orders already: there are {per_rank} for each rank", per_rank = crate::order::ORDERS_PER_RANK)]
    TooManyOrders {
        /// Largest number of them.
        limit: usize,
    },
    /// An order of which the rank is lost that kept its numbers, and no other can.
    #[error(
        "the rank that counted the messages of the order '{order}' is lost, and no other can: only the first orders of a job can go on then"
    )]
    NoVariable {
        /// The order.
        order: String,
    },
    /// A handler of an order that broadcasts more and more.
    #[error(
        "handlers have {limit} broadcasts under way in the order '{order}' that others have not consumed"
    )]
    Overdrawn {
        /// The order.
        order: String,
        /// Largest number of them.
        limit: u64,
    },
    /// A handler that waits for what comes after it.
    #[error(
        "the handler of the order '{0}' waits for a message that can only come after it has returned"
    )]
    WaitsForItself(String),
    /// A handler that panicked, so that what it should have done next was never done.
    #[error("the handler of the order '{0}' panicked")]
    OrderPanicked(String),
    /// The members of a team began different operations where all should begin the same.
    #[error(transparent)]
    Disagreement(#[from] crate::collective::Disagreement),
    /// A reduction panicked, so that no operation of its team can go on.
    #[error("the reduction of a collective operation panicked at rank {0}")]
    ReductionPanicked(Rank),
    /// A root that the team does not have.
    #[error("there is no member {root} in a team of {members} to be the root")]
    NoSuchMember {
        /// The member asked for.
        root: usize,
        /// Number of members.
        members: usize,
    },
    /// Values that cannot be shared out in equal parts.
    #[error("{values} values are not {parts} equal parts, one for each member")]
    Uneven {
        /// Number of values.
        values: usize,
        /// Number of parts.
        parts: usize,
    },
    /// Lengths of parts that are not those of the values.
    #[error("{values} values are given, and {parts} parts for {members} members that have {total}")]
    Parts {
        /// Number of values.
        values: usize,
        /// Number of parts.
        parts: usize,
        /// Number of members, each of which gets a part.
        members: usize,
        /// Number of values in all parts.
        total: usize,
    },
    /// Bytes that are no whole records.
    #[error("{bytes} bytes are no whole records of {size} bytes each")]
    Records {
        /// Number of bytes.
        bytes: usize,
        /// Bytes of a record.
        size: usize,
    },
    /// Too many splits of teams at a time.
    #[error(
        "this rank splits {limit} teams already, from as many threads: it can split no more at a time"
    )]
    TooManySplits {
        /// Largest number of them.
        limit: u32,
    },
    /// Members that have no counter to move, or not the same.
    #[error(
        "the members of this team do not bring the same counter: all of them create one, or all that have it move it and only the others join it"
    )]
    CountersDiffer,
    /// A counter that would be taken away from a rank.
    #[error(
        "rank {rank} shares this counter, is not lost, and is no member of the team that it is to move to"
    )]
    CounterLeavesOut {
        /// The rank.
        rank: Rank,
    },
    /// More counters than there are variables for them.
    #[error(
        "rank {home} has been the home of {limit} counters already, counters that were moved there included: the first member of another team can be the home of more"
    )]
    TooManyCounters {
        /// The rank that was to be the home.
        home: Rank,
        /// Largest number of them.
        limit: u16,
    },
    /// A counter that has handed out all its numbers.
    #[error("this counter is beyond its last number, which has 64 bits: it is of no use any more")]
    CounterFull,
    /// A call took longer than it was allowed to; it was cancelled.
    #[error("rank {rank} has not replied to a call of '{service}' in time")]
    CallTimedOut {
        /// The rank that was called.
        rank: Rank,
        /// Name of the service.
        service: String,
    },
    /// A service dropped a request without answering it.
    #[error("'{service}' of rank {rank} gave no reply")]
    NoReply {
        /// The rank of the service.
        rank: Rank,
        /// Its name.
        service: String,
    },
    /// A service says that it could not do what it was asked.
    #[error("'{service}' of rank {rank} failed: {what}")]
    Remote {
        /// The rank of the service.
        rank: Rank,
        /// Its name.
        service: String,
        /// Its text.
        what: String,
    },
    /// A call to a service that its rank does not have.
    #[error("rank {rank} has no service '{name}'")]
    NoSuchService {
        /// The rank that was called.
        rank: Rank,
        /// Name of the service.
        name: String,
    },
}

impl Error {
    /// The error for which `rank` is the reason, of whose end nothing else is known.
    pub(crate) fn lost(rank: Rank) -> Self {
        weft_endpoint::Error::RankLost(Loss { rank, cause: Cause::Ended }).into()
    }

    /// The rank that was lost, if that is the reason.
    pub fn lost_rank(&self) -> Option<Rank> {
        match self {
            Error::Packet(weft_endpoint::Error::RankLost(loss)) => Some(loss.rank),
            _ => None,
        }
    }
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests;
