//! Counters of a rank.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::given;
use crate::job::{Job, state};
use crate::memory::User;
use crate::status::{Status, call};
use std::ffi::{CStr, c_char};

/// Counter of a rank. Its texts are there as long as the program runs.
#[repr(C)]
pub struct Statistic {
    /// Its name, the same in all versions: "messages_sent" for example.
    name: *const c_char,
    /// Its unit: "messages", "bytes" and so on.
    unit: *const c_char,
    /// Its meaning, for a person.
    help: *const c_char,
    /// The counter, since the rank joined.
    value: u64,
}

/// Function that gets a counter; it must not keep the structure, but may keep the texts.
pub type StatisticCallback = Option<extern "C" fn(statistic: &Statistic, user: User)>;

/// Gives all counters of this rank, one after the other, to the callback. Later versions may have
/// more of them. In a job for packets those of messages are 0. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_statistics_each(
    job: Option<&Job>,
    callback: StatisticCallback,
    user: User,
) -> Status {
    call(|| {
        let callback = given(callback, "the callback")?;
        for (name, unit, help, value) in all(&state(job)?.statistics()) {
            let [name, unit, help] = [name, unit, help].map(CStr::as_ptr);
            callback(&Statistic { name, unit, help, value }, user);
        }
        Ok(())
    })
}

/// Name, unit, help and value of a counter.
type Described = (&'static CStr, &'static CStr, &'static CStr, u64);

/// All counters, in the order in which Rust has them.
fn all(statistics: &weft::Statistics) -> [Described; 17] {
    // Without `..`, so that a new counter is given to C too.
    let weft::Statistics {
        messages_sent,
        messages_received,
        packets_sent,
        packets_received,
        bytes_sent,
        bytes_received,
        blocked_sends,
        explicit_credits,
        packets_copied_out,
        packets_unread,
        bytes_copied_out,
        stalls,
        requests,
        overdrafts,
        continuations,
        interrupts,
        sleeps,
    } = *statistics;
    [
        (c"messages_sent", MESSAGES, c"messages sent; a broadcast is one", messages_sent),
        (c"messages_received", MESSAGES, c"messages received", messages_received),
        (c"packets_sent", PACKETS, PACKETS_SENT, packets_sent),
        (c"packets_received", PACKETS, c"packets received", packets_received),
        (c"bytes_sent", BYTES, c"bytes of the program's in the packets sent", bytes_sent),
        (c"bytes_received", BYTES, BYTES_RECEIVED, bytes_received),
        (c"blocked_sends", PACKETS, c"packets that had to wait for a credit", blocked_sends),
        (c"explicit_credits", PACKETS, EXPLICIT_CREDITS, explicit_credits),
        (c"packets_copied_out", PACKETS, PACKETS_COPIED_OUT, packets_copied_out),
        (c"packets_unread", PACKETS, PACKETS_UNREAD, packets_unread),
        (c"bytes_copied_out", BYTES, BYTES_COPIED_OUT, bytes_copied_out),
        (c"stalls", c"sends", STALLS, stalls),
        (c"requests", MESSAGES, c"messages whose receivers were asked first", requests),
        (c"overdrafts", PACKETS, OVERDRAFTS, overdrafts),
        (c"continuations", c"callbacks", CONTINUATIONS, continuations),
        (c"interrupts", c"interrupts", INTERRUPTS, interrupts),
        (c"sleeps", c"sleeps", c"times that a waiting thread slept", sleeps),
    ]
}

const MESSAGES: &CStr = c"messages";
const PACKETS: &CStr = c"packets";
const BYTES: &CStr = c"bytes";

const PACKETS_SENT: &CStr = c"packets sent, one for each destination, forwards included";
const BYTES_RECEIVED: &CStr = c"bytes of the program's in the packets received";
const EXPLICIT_CREDITS: &CStr = c"credit packets sent because there was nothing to piggyback on";
const PACKETS_COPIED_OUT: &CStr = c"packets copied out of link memory because nobody read them";
const PACKETS_UNREAD: &CStr = c"packets in link memory that nobody has read, now";
const BYTES_COPIED_OUT: &CStr =
    c"memory that packets take now which were copied out and which nobody has read";
const STALLS: &CStr = c"sends that waited because their receiver's port was full";
const OVERDRAFTS: &CStr = c"packets that callbacks sent to full ports all the same";
const CONTINUATIONS: &CStr = c"callbacks that waited and became continuations";
const INTERRUPTS: &CStr = c"interrupts: callbacks ran because the program did not poll";
