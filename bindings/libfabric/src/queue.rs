//! `struct fid_cq`: completion queues. A read makes progress.

use crate::abi::{ANYBODY, WAIT_NONE, class, flag};
use crate::entry::{returned, sized};
use crate::job::{Job, Look, limit};
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::{Context, List, Out, Room};
use crate::refusal::{Refusal, Result};
use crate::slots::QueueId;
use crate::state::{Completion, State, Watched};
use crate::transfer::{Notice, ReceiveOp};
use crate::wait;
use crate::watch::Watch;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use weft_endpoint::presence::polls::Reads;
use weft_tagged::{MessageEnvelope, Receiver};

object! {
    /// The object.
    struct Queue {
        ops: &'static QueueOps,
        job: Arc<Job>,
        id: QueueId,
        format: Format,
        /// Watch by which its program waits.
        watch: Arc<Watch>,
        reads: Reads,
    }
}

/// `struct fi_cq_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct QueueAttr {
    size: usize,
    flags: u64,
    format: c_int,
    wait_obj: c_int,
    signaling_vector: c_int,
    wait_cond: c_int,
    wait_set: List<'static, Fid>,
}

/// `enum fi_cq_format`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Context,
    Message,
    Data,
    Tagged,
}

/// `struct fi_cq_tagged_entry`, of which the other formats are beginnings.
#[repr(C)]
#[derive(Clone, Copy)]
struct TaggedEntry {
    data_entry: DataEntry,
    tag: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DataEntry {
    message_entry: MessageEntry,
    buffer: Context,
    data: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MessageEntry {
    context: Context,
    flags: u64,
    length: usize,
}

/// `struct fi_cq_err_entry`, as it was in the first version.
#[repr(C)]
#[derive(Clone, Copy)]
struct ErrorEntry {
    entry: TaggedEntry,
    lost: usize,
    number: c_int,
    own_number: c_int,
}

#[repr(C)]
struct QueueOps {
    size: usize,
    read: extern "C" fn(&Queue, Room<c_void>, usize) -> isize,
    readfrom: extern "C" fn(&Queue, Room<c_void>, usize, Room<u64>) -> isize,
    readerr: extern "C" fn(&Queue, Out<ErrorEntry>, u64) -> isize,
    sread: extern "C" fn(&Queue, Room<c_void>, usize, *const c_void, c_int) -> isize,
    sreadfrom: extern "C" fn(&Queue, Room<c_void>, usize, Room<u64>, *const c_void, c_int) -> isize,
    signal: extern "C" fn(&Queue) -> c_int,
    strerror: extern "C" fn(&Queue) -> *const c_char,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(QueueAttr, wait_obj) == 20
        && std::mem::offset_of!(QueueAttr, wait_set) == 32
        && size_of::<TaggedEntry>() == 48
        && size_of::<DataEntry>() == 40
        && size_of::<MessageEntry>() == 24
        && std::mem::offset_of!(ErrorEntry, own_number) == 60
        && std::mem::offset_of!(QueueOps, strerror) == 56
);

static OPS: QueueOps = QueueOps {
    size: size_of::<QueueOps>(),
    read,
    readfrom,
    readerr,
    sread,
    sreadfrom,
    signal,
    strerror,
};

/// Those of a queue whose [`Reads`] leave looks out.
static THROTTLED: QueueOps = QueueOps { read: read_throttled, ..OPS };

impl Class for Queue {
    const CLASS: usize = class::CQ;

    fn close(&self) -> Result {
        self.job.enter().close_queue(self.id)?;
        self.watch.remove(Watched::Queue(self.id));
        Ok(())
    }

    fn control(&self, command: c_int, argument: Argument) -> Result {
        self.watch.control(command, &argument)
    }
}

impl Queue {
    /// Number of the queue in its job.
    pub fn id(&self) -> QueueId {
        self.id
    }

    /// True if programs that read it are given the longest entries, which may go straight to them.
    pub fn is_direct(&self) -> bool {
        self.format == Format::Tagged
    }

    /// Job that it belongs to.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Watch by which its program waits.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }
}

/// `fi_cq_open`.
pub(crate) fn open(
    job: &Arc<Job>,
    attributes: Option<&QueueAttr>,
    context: Context,
) -> Result<Given<Queue>> {
    let (size, format) = attributes.map_or((0, 0), |given| (given.size, given.format));
    let format = match format {
        0 | 1 => Format::Context,
        2 => Format::Message,
        3 => Format::Data,
        4 => Format::Tagged,
        _ => return Err(Refusal::INVALID),
    };
    let watch = match attributes {
        Some(given) => wait::wanted(given.wait_obj, &given.wait_set)?,
        None => Watch::new(WAIT_NONE)?,
    };
    watch.admits(job)?;
    let id = job.enter().reports.open_queue(size, watch.descriptor())?;
    watch.add(job, Watched::Queue(id));
    let ops = if job.packets().looks_are_calls() { &THROTTLED } else { &OPS };
    let (fid, reads) = (Fid::of::<Queue>(context), Reads::default());
    let job = Arc::clone(job);
    Ok(give(Queue { fid, ops, job, id, format, watch, reads }))
}

impl Completion {
    #[inline]
    fn entry(&self) -> TaggedEntry {
        let Completion { context, flags, length, buffer, data, tag, .. } = *self;
        let message_entry = MessageEntry { context, flags, length };
        TaggedEntry { data_entry: DataEntry { message_entry, buffer, data }, tag }
    }
}

/// A read of a queue in which nothing waits: a success goes straight to where the program wants it.
struct Direct<'a> {
    queue: &'a Queue,
    room: Room<c_void>,
    count: usize,
    has_read: bool,
}

impl Receiver<ReceiveOp> for Direct<'_> {
    #[inline(always)]
    fn wants(&self, op: &ReceiveOp, length: u64) -> bool {
        let room = op.memory.one().filter(|_| op.plain == Some(self.queue.id));
        room.is_some_and(|room| length <= room.length() as u64) && self.count > 0
    }

    #[inline(always)]
    fn receive(&mut self, op: ReceiveOp, envelope: &MessageEnvelope, bytes: &[u8]) {
        let MessageEnvelope { tag, data, length, .. } = *envelope;
        let Notice { context, flags, .. } = op.notice;
        let (room, buffer) = (op.memory.one(), op.memory.start());
        // A drop is a call, and what is in one piece and plain owns nothing.
        std::mem::forget(op);
        if let Some(room) = room {
            room.fill(bytes);
        }
        let with_data = if data.is_some() { flag::REMOTE_CQ_DATA } else { 0 };
        let (flags, length) = (u64::from(flags) | with_data, length as usize);
        let message_entry = MessageEntry { context, flags, length };
        let data = data.unwrap_or(0);
        let entry = TaggedEntry { data_entry: DataEntry { message_entry, buffer, data }, tag };
        self.room.cast().set(0, entry);
        self.has_read = true;
    }
}

impl Format {
    /// Writes an entry where the program wants it.
    fn give(self, room: &Room<c_void>, number: usize, entry: TaggedEntry) {
        match self {
            Format::Context => room.cast().set(number, entry.data_entry.message_entry.context),
            Format::Message => room.cast().set(number, entry.data_entry.message_entry),
            Format::Data => room.cast().set(number, entry.data_entry),
            Format::Tagged => room.cast().set(number, entry),
        }
    }
}

/// Gives what waits, up to the first error. `None` if nothing does.
#[inline(never)]
fn take(
    queue: &Queue,
    state: &mut State,
    room: &Room<c_void>,
    count: usize,
    sources: Option<&Room<u64>>,
) -> Option<Result<usize>> {
    let mut given = 0;
    while given < count {
        let Some(waiting) = state.reports.completions(queue.id) else { break };
        match waiting.front() {
            Some(completion) if completion.error.is_none() => {
                let completion = *completion;
                waiting.pop_front();
                queue.format.give(room, given, completion.entry());
                if let Some(sources) = sources {
                    let handle = completion.source.map(|source| state.handle(source));
                    sources.set(given, handle.unwrap_or(ANYBODY));
                }
                given += 1;
            }
            Some(_) if given == 0 => return Some(Err(Refusal::ERROR_WAITS)),
            _ => break,
        }
    }
    (given > 0).then_some(Ok(given))
}

/// Reads what comes first: with one look at what has arrived, if nothing waits. Most do.
#[inline(always)]
fn read_first(queue: &Queue, room: Room<c_void>, count: usize) -> isize {
    let mut direct = Direct { queue, room, count, has_read: false };
    if queue.job.is_pending() {
        return read_now(queue, &direct.room, count, None);
    }
    let look = queue.job.look(&mut direct);
    // What is used from here on stands in memory: registers would be saved for it in each look.
    let Direct { queue, has_read, .. } = direct;
    if look == Look::Nothing {
        queue.job.look_in_vain();
        return Refusal::AGAIN.returned();
    }
    let read = if has_read { 1 } else { read_now(queue, &direct.room, direct.count, None) };
    // Something was there, maybe for others.
    queue.job.found_something();
    read
}

/// Reads what waits, without a look; 0 if nothing does.
#[inline(never)]
fn at_hand(queue: &Queue, room: &Room<c_void>, count: usize) -> isize {
    let mut state = queue.job.enter();
    let found = take(queue, &mut state, room, count, None);
    queue.job.note_pending(&state);
    found.map_or(0, |found| sized(|| found))
}

#[inline(never)]
fn read_now(
    queue: &Queue,
    room: &Room<c_void>,
    count: usize,
    sources: Option<&Room<u64>>,
) -> isize {
    sized(|| {
        let mut state = queue.job.enter();
        queue.job.progress_in(&mut state)?;
        let found = take(queue, &mut state, room, count, sources);
        queue.job.note_pending(&state);
        let has_ended = state.has_started && state.started.has_ended();
        drop(state);
        if has_ended {
            queue.job.tell_ended();
            return found.unwrap_or(Err(Refusal::AGAIN));
        }
        found.unwrap_or_else(|| {
            queue.job.look_in_vain();
            Err(Refusal::AGAIN)
        })
    })
}

fn read_later(
    queue: &Queue,
    room: &Room<c_void>,
    count: usize,
    sources: Option<&Room<u64>>,
    timeout_ms: c_int,
) -> isize {
    sized(|| {
        queue.job.wait(limit(timeout_ms), |state| {
            let found = take(queue, state, room, count, sources);
            found.or_else(|| queue.watch.is_signaled().then_some(Err(Refusal::AGAIN)))
        })?
    })
}

extern "C" fn read(queue: &Queue, room: Room<c_void>, count: usize) -> isize {
    returned(|| read_first(queue, room, count))
}

/// Does what [`read`] does, where a look may be a system call. It calls that, because what is
/// compiled for it there is compiled once.
extern "C" fn read_throttled(queue: &Queue, room: Room<c_void>, count: usize) -> isize {
    let now = || queue.job.packets().now();
    let is_pending = queue.job.is_pending();
    if !is_pending && queue.reads.is_due(now) {
        return Refusal::AGAIN.returned();
    }
    let leaves_look = is_pending && queue.reads.leaves_look();
    let at_hand = if leaves_look { at_hand(queue, &room, count) } else { 0 };
    let read = if at_hand != 0 { at_hand } else { read(queue, room, count) };
    if read > 0 {
        queue.job.wait_ends();
    }
    queue.reads.has_read(read > 0, now);
    read
}

extern "C" fn readfrom(
    queue: &Queue,
    room: Room<c_void>,
    count: usize,
    sources: Room<u64>,
) -> isize {
    read_now(queue, &room, count, Some(&sources))
}

extern "C" fn sread(
    queue: &Queue,
    room: Room<c_void>,
    count: usize,
    _condition: *const c_void,
    timeout_ms: c_int,
) -> isize {
    read_later(queue, &room, count, None, timeout_ms)
}

extern "C" fn sreadfrom(
    queue: &Queue,
    room: Room<c_void>,
    count: usize,
    sources: Room<u64>,
    _condition: *const c_void,
    timeout_ms: c_int,
) -> isize {
    read_later(queue, &room, count, Some(&sources), timeout_ms)
}

extern "C" fn readerr(queue: &Queue, room: Out<ErrorEntry>, _flags: u64) -> isize {
    sized(|| {
        let mut state = queue.job.progress()?;
        let waiting = state.reports.completions(queue.id).ok_or(Refusal::INVALID)?;
        let Some((number, lost)) = waiting.front().and_then(|completion| completion.error) else {
            return Err(Refusal::AGAIN);
        };
        if let Some(completion) = waiting.pop_front() {
            room.set(ErrorEntry { entry: completion.entry(), lost, number, own_number: number });
        }
        Ok(1)
    })
}

/// Has one that waits come back with nothing.
extern "C" fn signal(queue: &Queue) -> c_int {
    queue.watch.signal(&queue.job);
    0
}

extern "C" fn strerror(_queue: &Queue) -> *const c_char {
    c"the number of the error says all".as_ptr()
}
