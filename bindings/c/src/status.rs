//! Errors for C: a code for each kind, and the text of the last one and the rank that it is about.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::process;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft::Rank;

/// Answer of weft_error_rank() where no loss is the reason.
pub const WEFT_NO_RANK: u32 = u32::MAX;

/// Status that a call returns. Everything but WEFT_OK is an error; weft_error_text() says more
/// about it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// All is well.
    Ok = 0,
    /// An argument that makes no sense: a null pointer, a wrong or freed handle, text that is not
    /// UTF-8, a call that this job or this handle does not have.
    Invalid,
    /// A rank of the job is gone, and with it what was on its way to or from it.
    RankLost,
    /// The job has no such rank.
    NoSuchRank,
    /// Programs have no such variable.
    NoSuchVariable,
    /// The ranks given make no group.
    BadGroup,
    /// This rank is not a member of the group.
    NotAMember,
    /// More bytes than there is room for.
    TooLong,
    /// A message has fewer bytes left than were asked for; none was read.
    TooShort,
    /// The program holds all packets itself, so that none can become free.
    NoPackets,
    /// There is a port or an object of that name, or a port of one that collides with it.
    PortTaken,
    /// Nobody has created the port that a message was for.
    NoPort,
    /// There is no memory for a message.
    NoMemory,
    /// The time limit passed.
    TimedOut,
    /// Whoever was to complete an operation ended without doing so, or was to send a message and
    /// gave it up.
    Abandoned,
    /// The rank that was called has no such service.
    NoService,
    /// A service ended a request without an answer.
    NoReply,
    /// A service says that it could not do what it was asked; its text says why.
    CallFailed,
    /// The job has as many orders as it can have.
    TooManyOrders,
    /// Callbacks broadcast more and more in an order, which others do not keep up with.
    Overdrawn,
    /// A callback of an order, or all of a program, waits for what only itself could bring about.
    WaitsForItself,
    /// The members of a team, or the ranks that share regions, began different operations; it is of
    /// no use any more.
    Disagreement,
    /// The members of a team that live do not call the same after a loss, or do not bring the same
    /// counter. They may call it again.
    CallsDiffer,
    /// The job has no room for so many more ranks.
    JobFull,
    /// The team has no such member.
    NoSuchMember,
    /// There is no such region, or it was deleted.
    NoRegion,
    /// There is no such object, or it was deleted.
    NoObject,
    /// The other side of a connection has closed it, or gave no right to what was asked.
    Refused,
    /// A peer broke the protocol; the job cannot go on.
    Protocol,
    /// This process could not take its place in the job.
    CannotJoin,
    /// An option of the job makes no sense.
    BadOption,
    /// The system refused something.
    System,
    /// A panic: a defect of Weft, or of what its callbacks call. What was going on is in an unknown
    /// state.
    Panicked,
    /// An error of a kind that has no code.
    Other,
}

/// An error on its way to C.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    text: String,
    /// The rank that was lost, if that is the reason.
    lost: Option<Rank>,
}

impl Failure {
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Failure { status, text: text.into(), lost: None }
    }

    /// An argument that makes no sense.
    pub fn invalid(text: impl Into<String>) -> Self {
        Failure::new(Status::Invalid, text)
    }

    /// This one, of which the loss of a rank is the reason, if one is.
    fn because_of(self, lost: Option<Rank>) -> Self {
        Failure { lost, ..self }
    }
}

impl From<weft::Error> for Failure {
    fn from(error: weft::Error) -> Self {
        let status = match &error {
            weft::Error::Messaging(error) => of_messages(error),
            weft::Error::Join(_) | weft::Error::Attach(_) | weft::Error::Fabric(_) => {
                Status::CannotJoin
            }
            weft::Error::Option { .. } => Status::BadOption,
            weft::Error::System(_) => Status::System,
            weft::Error::Encoding { .. } | weft::Error::Decoding { .. } => Status::Other,
        };
        Failure::new(status, error.to_string()).because_of(error.lost_rank())
    }
}

impl From<weft_messaging::Error> for Failure {
    fn from(error: weft_messaging::Error) -> Self {
        weft::Error::from(error).into()
    }
}

impl From<weft_endpoint::Error> for Failure {
    fn from(error: weft_endpoint::Error) -> Self {
        weft::Error::from(error).into()
    }
}

impl From<weft_region::Error> for Failure {
    fn from(error: weft_region::Error) -> Self {
        use weft_region::Error;
        let status = match &error {
            Error::Packets(error) => of_packets(error),
            Error::Misuse { .. } | Error::Shape { .. } => Status::Invalid,
            Error::Unknown(_) | Error::Deleted(_) => Status::NoRegion,
            Error::Memory(_) => Status::NoMemory,
            Error::Lost { .. } => Status::RankLost,
            Error::Disagreement { .. } => Status::Disagreement,
            Error::Packet(_) | Error::Breach { .. } | Error::Invariant { .. } => Status::Protocol,
        };
        Failure::new(status, error.to_string()).because_of(error.lost_rank())
    }
}

impl From<weft_object::Error> for Failure {
    fn from(error: weft_object::Error) -> Self {
        use weft_object::Error;
        let status = match &error {
            Error::Messaging(error) => of_messages(error),
            Error::Lost { .. } => Status::RankLost,
            Error::Taken(_) => Status::PortTaken,
            Error::LongName(_) => Status::TooLong,
            Error::NoSuchRank(..) => Status::NoSuchRank,
            Error::Process { .. } | Error::Ended => Status::Abandoned,
            Error::Deadlock(_) => Status::WaitsForItself,
            Error::UnknownType(_)
            | Error::UnknownProcess(_)
            | Error::OtherType { .. }
            | Error::BadState(_)
            | Error::NoSuchOperation { .. }
            | Error::Malformed { .. }
            | Error::Unwritable(_) => Status::Invalid,
            Error::NoSuchObject(_) | Error::Deleted(_) => Status::NoObject,
            Error::NoCopy(_) => Status::Other,
            Error::Unreadable => Status::Protocol,
            Error::Broken(_) => Status::Panicked,
        };
        Failure::new(status, error.to_string()).because_of(error.lost_rank())
    }
}

impl From<weft_linda::Error> for Failure {
    fn from(error: weft_linda::Error) -> Self {
        use weft_linda::Error;
        let status = match error {
            Error::Object(error) => return error.into(),
            Error::NoSuchRank(..) => Status::NoSuchRank,
            Error::ManyFields(_) | Error::LongField(_) => Status::TooLong,
            Error::BadAnswer { .. } => Status::Protocol,
            Error::Panicked => Status::Panicked,
            Error::NoThread(_) => Status::System,
        };
        Failure::new(status, error.to_string())
    }
}

fn of_messages(error: &weft_messaging::Error) -> Status {
    use weft_messaging::Error;
    match error {
        Error::Packet(error) => of_packets(error),
        Error::PortTaken(_) | Error::PortCollision(..) => Status::PortTaken,
        Error::Short { .. } => Status::TooShort,
        Error::Stray { .. } | Error::Unfinished { .. } | Error::Disorder { .. } => Status::Protocol,
        Error::Headers { .. } | Error::NoRoom { .. } => Status::TooLong,
        Error::NoPort { .. } | Error::Unclaimed { .. } => Status::NoPort,
        Error::NoMemory { .. } => Status::NoMemory,
        Error::TimedOut(_) | Error::CallTimedOut { .. } => Status::TimedOut,
        Error::Abandoned | Error::GivenUp { .. } => Status::Abandoned,
        Error::Panicked { .. }
        | Error::TaskPanicked(_)
        | Error::OrderPanicked(_)
        | Error::ReductionPanicked(_) => Status::Panicked,
        Error::NoSuchService { .. } => Status::NoService,
        Error::NoReply { .. } => Status::NoReply,
        Error::Remote { .. } => Status::CallFailed,
        Error::TooManyOrders { .. } | Error::NoVariable { .. } => Status::TooManyOrders,
        Error::Overdrawn { .. } => Status::Overdrawn,
        Error::WaitsForItself(_) => Status::WaitsForItself,
        Error::Disagreement(_) => Status::Disagreement,
        Error::CallsDiffer(_) | Error::CountersDiffer => Status::CallsDiffer,
        Error::JobIsFull { .. } => Status::JobFull,
        Error::NotSpawned { .. } => Status::System,
        Error::NoSuchMember { .. } => Status::NoSuchMember,
        Error::NoDoor
        | Error::Uneven { .. }
        | Error::Parts { .. }
        | Error::Records { .. }
        | Error::CounterLeavesOut { .. }
        | Error::TooManySplits { .. } => Status::Invalid,
        _ => Status::Other,
    }
}

fn of_packets(error: &weft_endpoint::Error) -> Status {
    use weft_endpoint::Error;
    match error {
        Error::RankLost(_) => Status::RankLost,
        Error::BadFrame(_) | Error::Violation(_) | Error::Invariant(_) => Status::Protocol,
        Error::PoolExhausted { .. } => Status::NoPackets,
        Error::TooLong { .. } => Status::TooLong,
        Error::NoSuchRank { .. } => Status::NoSuchRank,
        Error::Group(_) => Status::BadGroup,
        Error::NotAMember | Error::CameLater { .. } => Status::NotAMember,
        Error::NoSuchVariable(_) => Status::NoSuchVariable,
        Error::Outside { .. } | Error::Buffer { .. } => Status::Invalid,
        Error::Refused { .. } => Status::Refused,
    }
}

/// Error that a thread has met last.
#[derive(Default)]
struct Last {
    text: CString,
    lost: Option<Rank>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

/// Does the work of an exported function: keeps the text of an error, and panics from C. In a child
/// of a rank nothing is done.
#[inline]
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    if process::is_child() {
        // What it was given to end is the parent's.
        std::mem::forget(work);
        return remember(process::child_failure());
    }
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => remember(failure),
        Err(panic) => remember(Failure::new(Status::Panicked, text_of(&*panic))),
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a text").to_owned()
}

#[cold]
fn remember(failure: Failure) -> Status {
    // What another process wrote may be in it, but never a zero: those end texts in C.
    let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
    // A thread that ends has nobody left to ask.
    let _ = LAST.try_with(|last| last.replace(Last { text, lost: failure.lost }));
    failure.status
}

/// The text of the last error of this thread, in one line: what went wrong, where, and what to do.
/// Empty if there was none. Never null. It is Weft's, and valid until the next call that fails on
/// this thread. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_error_text() -> *const c_char {
    LAST.try_with(|last| last.borrow().text.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The rank that was lost, if that is the reason of the last error of this thread; WEFT_NO_RANK if
/// it is not, or there was no error. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_error_rank() -> u32 {
    let lost = LAST.try_with(|last| last.borrow().lost);
    lost.ok().flatten().map_or(WEFT_NO_RANK, |rank| rank.0.into())
}

/// The name of a status, such as "WEFT_RANK_LOST"; "unknown status" for a number that is none. The
/// text is a constant.
#[unsafe(no_mangle)]
pub extern "C" fn weft_status_name(status: u32) -> *const c_char {
    let known = NAMES.iter().find(|(known, _)| *known as u32 == status);
    known.map_or(UNKNOWN, |(_, name)| name).as_ptr()
}

/// The version of this library, such as "0.1.0". The text is a constant.
#[unsafe(no_mangle)]
pub extern "C" fn weft_version() -> *const c_char {
    VERSION.as_ptr()
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zeros in it"),
    };

static UNKNOWN: &CStr = c"unknown status";

/// The names of all statuses.
static NAMES: [(Status, &CStr); 34] = [
    (Status::Ok, c"WEFT_OK"),
    (Status::Invalid, c"WEFT_INVALID"),
    (Status::RankLost, c"WEFT_RANK_LOST"),
    (Status::NoSuchRank, c"WEFT_NO_SUCH_RANK"),
    (Status::NoSuchVariable, c"WEFT_NO_SUCH_VARIABLE"),
    (Status::BadGroup, c"WEFT_BAD_GROUP"),
    (Status::NotAMember, c"WEFT_NOT_A_MEMBER"),
    (Status::TooLong, c"WEFT_TOO_LONG"),
    (Status::TooShort, c"WEFT_TOO_SHORT"),
    (Status::NoPackets, c"WEFT_NO_PACKETS"),
    (Status::PortTaken, c"WEFT_PORT_TAKEN"),
    (Status::NoPort, c"WEFT_NO_PORT"),
    (Status::NoMemory, c"WEFT_NO_MEMORY"),
    (Status::TimedOut, c"WEFT_TIMED_OUT"),
    (Status::Abandoned, c"WEFT_ABANDONED"),
    (Status::NoService, c"WEFT_NO_SERVICE"),
    (Status::NoReply, c"WEFT_NO_REPLY"),
    (Status::CallFailed, c"WEFT_CALL_FAILED"),
    (Status::TooManyOrders, c"WEFT_TOO_MANY_ORDERS"),
    (Status::Overdrawn, c"WEFT_OVERDRAWN"),
    (Status::WaitsForItself, c"WEFT_WAITS_FOR_ITSELF"),
    (Status::Disagreement, c"WEFT_DISAGREEMENT"),
    (Status::CallsDiffer, c"WEFT_CALLS_DIFFER"),
    (Status::JobFull, c"WEFT_JOB_FULL"),
    (Status::NoSuchMember, c"WEFT_NO_SUCH_MEMBER"),
    (Status::NoRegion, c"WEFT_NO_REGION"),
    (Status::NoObject, c"WEFT_NO_OBJECT"),
    (Status::Refused, c"WEFT_REFUSED"),
    (Status::Protocol, c"WEFT_PROTOCOL"),
    (Status::CannotJoin, c"WEFT_CANNOT_JOIN"),
    (Status::BadOption, c"WEFT_BAD_OPTION"),
    (Status::System, c"WEFT_SYSTEM"),
    (Status::Panicked, c"WEFT_PANICKED"),
    (Status::Other, c"WEFT_OTHER"),
];

#[cfg(test)]
mod tests;
