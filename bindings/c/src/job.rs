//! Joining a job, leaving it, and what every job has.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, HandleKind, free, given, put};
use crate::held::Held;
use crate::memory::{Text, User};
use crate::process::once;
use crate::status::{Failure, Status, call};
use crate::waiters::Waiters;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};
use weft::{PacketJob, Packets, Rank, Weft};
use weft_endpoint::{Awaited, InterruptsOff, Whom};

/// This process's place in a job. Any thread may use it, several at once.
pub struct Job(Handle<JobState>);

/// Job in Rust.
pub(crate) struct JobState {
    // Before the layer: when the job goes, interrupts are on again.
    interrupts_off: Mutex<Vec<Held<InterruptsOff<'static>>>>,
    packets: Arc<Packets>,
    waiters: Arc<Waiters>,
    layer: Layer,
}

/// Layer that a job was joined for.
enum Layer {
    Messages(Weft),
    Packets(PacketJob),
}

impl HandleKind for JobState {
    const MARK: u32 = 0x4a4f_4201;
    const NAME: &'static str = "job";
}

impl Job {
    fn new(packets: &Packets, layer: Layer) -> *mut Job {
        let packets = Arc::new(packets.clone());
        let (interrupts_off, waiters) = (Mutex::default(), Arc::default());
        let state = JobState { interrupts_off, packets, waiters, layer };
        Box::into_raw(Box::new(Job(Handle::new(state))))
    }
}

/// A job that a program has as long as it runs, which cannot leave it by itself.
pub(crate) fn lent(weft: Weft) -> Job {
    let packets = Arc::new(weft.packets().clone());
    let (interrupts_off, waiters, layer) =
        (Mutex::default(), Arc::default(), Layer::Messages(weft));
    Job(Handle::lent(JobState { interrupts_off, packets, waiters, layer }))
}

/// The job that C points to.
#[inline]
pub(crate) fn state(job: Option<&Job>) -> Result<&JobState, Failure> {
    given(job, "job")?.0.get()
}

/// A rank as C has it.
#[inline]
pub(crate) fn rank(number: u32) -> Result<Rank, Failure> {
    let no_such = |_| Failure::new(Status::NoSuchRank, format!("no job has a rank {number}"));
    u16::try_from(number).map(Rank).map_err(no_such)
}

impl JobState {
    /// The packet interface, whatever the job was joined for.
    pub fn packets(&self) -> &Arc<Packets> {
        &self.packets
    }

    /// Threads that wait for what callbacks do.
    pub fn waiters(&self) -> &Arc<Waiters> {
        &self.waiters
    }

    /// The job, if it was joined for messages.
    pub fn messages(&self) -> Result<&Weft, Failure> {
        match &self.layer {
            Layer::Messages(weft) => Ok(weft),
            Layer::Packets(_) => Err(Failure::invalid(
                "this job was joined for packets, which has no messages: join it with weft_join",
            )),
        }
    }

    /// Counters of this rank.
    pub fn statistics(&self) -> weft::Statistics {
        match &self.layer {
            Layer::Messages(weft) => weft.statistics(),
            Layer::Packets(_) => of_packets(&self.packets.statistics()),
        }
    }

    fn poll(&self) -> Result<bool, Failure> {
        Ok(match &self.layer {
            Layer::Messages(weft) => weft.poll()?,
            Layer::Packets(job) => job.packets().poll()?,
        })
    }

    /// Waits for a condition that callbacks make true; makes progress meanwhile.
    fn poll_until(&self, done: impl FnMut() -> bool) -> Result<(), Failure> {
        match &self.layer {
            Layer::Messages(weft) => {
                let what = || Awaited::new("what a callback is to do", Whom::Anyone);
                weft.engine()
                    .block_on_for(&what, self.waiters.until(done))
                    .map_err(weft::Error::from)?;
            }
            Layer::Packets(job) => job.packets().poll_until(done)?,
        }
        Ok(())
    }
}

/// Counters of a rank that has no messages.
fn of_packets(packets: &weft_endpoint::Statistics) -> weft::Statistics {
    weft::Statistics {
        packets_sent: packets.protocol.packets_sent,
        packets_received: packets.protocol.packets_received,
        bytes_sent: packets.protocol.bytes_sent,
        bytes_received: packets.protocol.bytes_received,
        blocked_sends: packets.protocol.blocked_sends,
        explicit_credits: packets.protocol.explicit_credits,
        interrupts: packets.interrupts,
        sleeps: packets.sleeps,
        ..weft::Statistics::default()
    }
}

/// Joins the job that this process was started in, for messages; started by itself, it is a job of
/// one rank. To be called once in a process, by its main thread, before there are others. Blocks
/// until the launcher has answered. The job is the caller's, to be given back to weft_leave().
#[unsafe(no_mangle)]
pub extern "C" fn weft_join(job: Option<&mut MaybeUninit<*mut Job>>) -> Status {
    call(|| joined(job, || weft::join_for(weft::OnLoss::End)))
}

/// Does what weft_join() does, and asks that the job go on after the loss of a rank, as all
/// programs of the job do. weft run --on-loss continue has a job go on whatever programs ask; under
/// a process manager it ends at a loss, which weft_goes_on() says.
#[unsafe(no_mangle)]
pub extern "C" fn weft_join_to_go_on(job: Option<&mut MaybeUninit<*mut Job>>) -> Status {
    call(|| joined(job, || weft::join_for(weft::OnLoss::Continue)))
}

/// Joins a job that has not started this process by its door, for messages: door is
/// weft-door-ADDRESS:SECRET, or the file that weft run --door writes, on a host of that job. If
/// goes_on is true it asks that the job go on after a loss, as weft_join_to_go_on() does. Blocks
/// until the job's program lets this process in, by weft_team_admit(); WEFT_CANNOT_JOIN if the job
/// ends first. What weft_join() does where the environment says WEFT_DOOR.
#[unsafe(no_mangle)]
pub extern "C" fn weft_join_at(
    door: Text<'_>,
    goes_on: bool,
    job: Option<&mut MaybeUninit<*mut Job>>,
) -> Status {
    let on_loss = if goes_on { weft::OnLoss::Continue } else { weft::OnLoss::End };
    call(|| {
        let door = door.get("the door")?;
        joined(job, || weft::join_at(door, on_loss))
    })
}

fn joined(
    job: Option<&mut MaybeUninit<*mut Job>>,
    joining: impl FnOnce() -> weft::Result<Weft>,
) -> Result<(), Failure> {
    let job = given(job, "the pointer for the result")?;
    let weft = once(|| Ok(joining()?))?;
    job.write(Job::new(&weft.packets().clone(), Layer::Messages(weft)));
    Ok(())
}

/// Does what weft_join() does, but for packets: there are no ports, no messages and no barrier. Set
/// a callback with weft_packet_receive() before anything arrives.
#[unsafe(no_mangle)]
pub extern "C" fn weft_join_packets(job: Option<&mut MaybeUninit<*mut Job>>) -> Status {
    call(|| {
        let job = given(job, "the pointer for the result")?;
        let joined = once(|| Ok(weft::join_packets()?))?;
        job.write(Job::new(&joined.packets().clone(), Layer::Packets(joined)));
        Ok(())
    })
}

/// Ends this rank's part and frees the job, even when it fails. A job for messages waits until all
/// ranks leave, and callbacks run meanwhile; one for packets only until its own packets have left,
/// so its ranks must agree before that they are done. All else that the job gave out is to be given
/// back before. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_leave(job: Option<Box<Job>>) -> Status {
    call(|| match free(job, |job| &mut job.0)?.layer {
        Layer::Messages(weft) => Ok(weft.leave()?),
        Layer::Packets(job) => Ok(job.leave()?),
    })
}

/// This rank's number, from 0. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_rank(job: Option<&Job>, rank: Option<&mut MaybeUninit<u32>>) -> Status {
    call(|| put(rank, state(job)?.packets.rank().0.into()))
}

/// Number of ranks that the job began with: all there are, unless it grows. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_size(job: Option<&Job>, size: Option<&mut MaybeUninit<u32>>) -> Status {
    call(|| put(size, state(job)?.packets.size() as u32))
}

/// Number of ranks that the job has at most: see weft_team_grow(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_room(job: Option<&Job>, room: Option<&mut MaybeUninit<u32>>) -> Status {
    call(|| put(room, state(job)?.packets.room() as u32))
}

/// Returns when all ranks have called it as often as this one. Blocks; callbacks run meanwhile.
/// Only in a job for messages.
#[unsafe(no_mangle)]
pub extern "C" fn weft_barrier(job: Option<&Job>) -> Status {
    call(|| Ok(state(job)?.messages()?.barrier()?))
}

/// Takes what has arrived and runs callbacks. If any is not null, it is set to whether anything
/// happened. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_poll(job: Option<&Job>, any: Option<&mut MaybeUninit<bool>>) -> Status {
    call(|| {
        let happened = state(job)?.poll()?;
        any.map(|any| any.write(happened));
        Ok(())
    })
}

/// Condition that is waited for; true once it holds. It should be quick, and must not call Weft.
pub type Condition = Option<extern "C" fn(user: User) -> bool>;

/// Waits until the condition is true: polls, spins, yields, then sleeps in between. A callback of
/// this job has to make it true; it is looked at after each. Blocks; callbacks run meanwhile. The
/// condition is called by this thread only. In a job for packets, one thread at a time waits so.
#[unsafe(no_mangle)]
pub extern "C" fn weft_poll_until(job: Option<&Job>, condition: Condition, user: User) -> Status {
    call(|| {
        let condition = given(condition, "the condition")?;
        state(job)?.poll_until(|| condition(user))
    })
}

/// Turns interrupts off, until weft_interrupts_on() was called as often: callbacks run only while
/// this rank waits or polls. When it returns none runs behind the caller's back; it waits for one
/// that does, so the caller holds nothing that a callback waits for.
#[unsafe(no_mangle)]
pub extern "C" fn weft_interrupts_off(job: Option<&Job>) -> Status {
    call(|| {
        let state = state(job)?;
        // Outside the lock, which a callback that this waits for may want.
        let guard = Held::interrupts_off(&state.packets);
        state.interrupts_off.lock().unwrap_or_else(PoisonError::into_inner).push(guard);
        Ok(())
    })
}

/// Undoes one weft_interrupts_off(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_interrupts_on(job: Option<&Job>) -> Status {
    call(|| {
        let mut off = state(job)?.interrupts_off.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = off.pop().ok_or_else(|| Failure::invalid("interrupts are not off"))?;
        drop(off);
        drop(guard);
        Ok(())
    })
}

/// Says that several threads of this program send and receive. Until then all may as well, but the
/// one that joined enters for free and the others pay for it; from here on each pays for an
/// ordinary lock. Only in a job for messages. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_share_among_threads(job: Option<&Job>) -> Status {
    call(|| {
        state(job)?.messages()?.share_among_threads();
        Ok(())
    })
}

/// The time in nanoseconds since some point in the past, by a clock that never goes back. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_now(job: Option<&Job>, now: Option<&mut MaybeUninit<u64>>) -> Status {
    call(|| put(now, state(job)?.packets.now().as_nanos() as u64))
}

/// Begins a span of time, which a trace of the run (weft run --trace) shows under this name until
/// weft_span_end() ends it. `span` is given its number. In a run that is not traced nothing
/// happens. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_span_begin(
    job: Option<&Job>,
    name: Text<'_>,
    span: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(span, state(job)?.packets.trace().begin_span(name.get("the name")?)))
}

/// Ends the span of this number that began last. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_span_end(job: Option<&Job>, span: u32) -> Status {
    call(|| {
        state(job)?.packets.trace().end_span(span);
        Ok(())
    })
}
