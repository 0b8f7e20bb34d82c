//! Messages of objects: creations and invocations, which are broadcast or called. Numbers are
//! little-endian.

use crate::copy::Fault;
use crate::placement::Site;
use weft_endpoint::Rank;

/// Bytes of the name of an object, or a type, at most.
pub const NAME_MAX: usize = u8::MAX as usize;

/// Bytes before the arguments of an invocation.
pub(crate) const INVOCATION: usize = 24;
/// Bytes before what else is in other messages of the order.
const HEAD: usize = 8;

/// Bytes before the result in a reply.
pub(crate) const REPLY: usize = 16;

const CREATE: u8 = 1;
const INVOKE: u8 = 2;
const FORK: u8 = 3;
const END: u8 = 4;
const PLACE: u8 = 5;
const STATE: u8 = 6;
const PROBE: u8 = 7;
const ANSWER: u8 = 8;
const READS: u8 = 9;
const DELETE: u8 = 10;
/// The question whether all processes wait.
pub(crate) const PROBING: [u8; HEAD] = [PROBE, 0, 0, 0, 0, 0, 0, 0];

/// Invocation of an operation; its arguments follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Invocation {
    pub operation: u16,
    /// The object: number of its creation in the order.
    pub object: u64,
    /// Number by which the invoker knows it, if it is broadcast. If it is called, the number of
    /// messages of the order that the caller has seen.
    pub call: u64,
    /// Number by which the rank of the process that waits for it knows it; 0 if none does.
    pub number: u32,
}

/// Beginning of the reply to a call; the result follows, or the arguments if the object has moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    /// Reason why there is no result.
    pub fault: Option<Fault>,
    /// Messages of the order that the home has seen.
    pub seen: u64,
}

/// Creation of an object.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Creation<'a> {
    pub site: Site,
    /// True if statistics may change that.
    pub is_automatic: bool,
    /// False if nobody finds it by its name.
    pub is_named: bool,
    pub name: &'a str,
    pub kind: &'a str,
    pub state: &'a [u8],
}

/// Start of a process; the name of its type and its arguments follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fork<'a> {
    /// True if a program begins with it.
    pub is_main: bool,
    pub on: Rank,
    pub name: &'a str,
}

/// End of a process; what was wrong follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    /// Number of its fork in the order.
    pub process: u64,
    pub has_failed: bool,
}

/// Change of an object's placement, which is asked for, or done; then the state follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub object: u64,
    pub site: Site,
}

/// Reason for a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The program wants it, and that it stays.
    Fixed,
    /// The program leaves it to statistics from here on; this is a first guess.
    Estimate,
    /// Statistics.
    Statistics,
    /// The program leaves it to statistics from here on, wherever the object is: nothing changes
    /// now.
    Left,
}

/// A message of the order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Ordered<'a> {
    Create(Creation<'a>),
    Invoke(Invocation, &'a [u8]),
    Fork(Fork<'a>, &'a [u8]),
    End(End, &'a [u8]),
    Place(Place, Why),
    /// A state; `None` if the object stays where it is.
    State(Place, Option<&'a [u8]>),
    /// Reads of an object, at one rank, since it last told.
    Reads(u64, u64),
    /// The end of an object.
    Delete(u64),
    /// The question whether all processes wait.
    Probe,
    /// A rank's answer to the question with this number in the order.
    Answer(u64, &'a [u8]),
}

impl Invocation {
    /// Messages of the order that the caller has seen.
    pub fn seen(&self) -> u64 {
        self.call
    }

    pub fn emit(&self) -> [u8; INVOCATION] {
        let mut bytes = [0; INVOCATION];
        bytes[0] = INVOKE;
        bytes[2..4].copy_from_slice(&self.operation.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.object.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.call.to_le_bytes());
        bytes
    }

    /// An invocation and its arguments; `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, arguments) = bytes.split_first_chunk::<INVOCATION>()?;
        let [INVOKE, 0, low, high, a, b, c, d, ids @ ..] = head else { return None };
        let (object, call) = ids.split_first_chunk::<8>()?;
        let invocation = Invocation {
            operation: u16::from_le_bytes([*low, *high]),
            object: u64::from_le_bytes(*object),
            call: u64::from_le_bytes(call.try_into().ok()?),
            number: u32::from_le_bytes([*a, *b, *c, *d]),
        };
        Some((invocation, arguments))
    }
}

impl Creation<'_> {
    /// The beginning; the names and the state follow. Names are no longer than [`NAME_MAX`].
    pub fn emit(&self) -> [u8; HEAD] {
        let [low, high] = self.site.number().to_le_bytes();
        let [name, kind] = [self.name, self.kind].map(|name| name.len() as u8);
        let flags = u8::from(!self.is_named) | (u8::from(self.is_automatic) << 1);
        [CREATE, 0, low, high, name, kind, flags, 0]
    }

    /// Content of a message that begins with `head`.
    fn parse<'a>(head: [u8; HEAD], rest: &'a [u8]) -> Option<Creation<'a>> {
        let [CREATE, 0, low, high, name, kind, flags @ 0..=3, 0] = head else { return None };
        let (name, rest) = rest.split_at_checked(name.into())?;
        let (kind, state) = rest.split_at_checked(kind.into())?;
        let site = Site::of_number(u16::from_le_bytes([low, high]));
        let (is_named, is_automatic) = (flags & 1 == 0, flags & 2 != 0);
        let [name, kind] = [name, kind].map(std::str::from_utf8);
        Some(Creation { site, is_automatic, is_named, name: name.ok()?, kind: kind.ok()?, state })
    }
}

impl Fork<'_> {
    /// The beginning. The name is no longer than [`NAME_MAX`].
    pub fn emit(&self) -> [u8; HEAD] {
        let [low, high] = self.on.0.to_le_bytes();
        [FORK, u8::from(self.is_main), low, high, self.name.len() as u8, 0, 0, 0]
    }

    /// Content of a message that begins with `head`, and the arguments.
    fn parse<'a>(head: [u8; HEAD], rest: &'a [u8]) -> Option<(Fork<'a>, &'a [u8])> {
        let [FORK, is_main @ 0..=1, low, high, name, 0, 0, 0] = head else { return None };
        let (name, arguments) = rest.split_at_checked(name.into())?;
        let (name, on) = (std::str::from_utf8(name).ok()?, Rank(u16::from_le_bytes([low, high])));
        Some((Fork { is_main: is_main == 1, on, name }, arguments))
    }
}

impl End {
    pub fn emit(&self) -> [u8; 2 * HEAD] {
        let mut bytes = [0; 2 * HEAD];
        bytes[..2].copy_from_slice(&[END, u8::from(self.has_failed)]);
        bytes[HEAD..].copy_from_slice(&self.process.to_le_bytes());
        bytes
    }

    /// Content of a message that begins with `head`, and the text.
    fn parse(head: [u8; HEAD], rest: &[u8]) -> Option<(End, &[u8])> {
        let [END, has_failed @ 0..=1, 0, 0, 0, 0, 0, 0] = head else { return None };
        let (process, text) = rest.split_first_chunk()?;
        let process = u64::from_le_bytes(*process);
        Some((End { process, has_failed: has_failed == 1 }, text))
    }
}

/// Answer to the question with this number in the order.
pub(crate) fn emit_answer(number: u64, answer: &[u8]) -> Vec<u8> {
    [&[ANSWER, 0, 0, 0, 0, 0, 0, 0], &number.to_le_bytes()[..], answer].concat()
}

/// Reads of an object at this rank.
pub(crate) fn emit_reads(object: u64, reads: u64) -> Vec<u8> {
    [[READS, 0, 0, 0, 0, 0, 0, 0], object.to_le_bytes(), reads.to_le_bytes()].concat()
}

/// The end of an object.
pub(crate) fn emit_delete(object: u64) -> [u8; 2 * HEAD] {
    let mut bytes = [0; 2 * HEAD];
    bytes[0] = DELETE;
    bytes[HEAD..].copy_from_slice(&object.to_le_bytes());
    bytes
}

fn parse_delete(head: [u8; HEAD], rest: &[u8]) -> Option<Ordered<'_>> {
    let [DELETE, 0, 0, 0, 0, 0, 0, 0] = head else { return None };
    Some(Ordered::Delete(u64::from_le_bytes(rest.try_into().ok()?)))
}

fn parse_reads(head: [u8; HEAD], rest: &[u8]) -> Option<Ordered<'_>> {
    let [READS, 0, 0, 0, 0, 0, 0, 0] = head else { return None };
    let (object, reads) = rest.split_first_chunk()?;
    let reads = u64::from_le_bytes(reads.try_into().ok()?);
    Some(Ordered::Reads(u64::from_le_bytes(*object), reads))
}

fn parse_answer(head: [u8; HEAD], rest: &[u8]) -> Option<Ordered<'_>> {
    let [ANSWER, 0, 0, 0, 0, 0, 0, 0] = head else { return None };
    let (number, answer) = rest.split_first_chunk()?;
    Some(Ordered::Answer(u64::from_le_bytes(*number), answer))
}

impl Place {
    /// A message that asks for it.
    pub fn emit(&self, why: Why) -> [u8; 2 * HEAD] {
        self.emit_as(PLACE, why as u8)
    }

    /// Beginning of a message that does it; the state follows, if the object moves.
    pub fn emit_state(&self, moves: bool) -> [u8; 2 * HEAD] {
        self.emit_as(STATE, u8::from(moves))
    }

    fn emit_as(&self, kind: u8, how: u8) -> [u8; 2 * HEAD] {
        let mut bytes = [0; 2 * HEAD];
        bytes[..2].copy_from_slice(&[kind, how]);
        bytes[2..4].copy_from_slice(&self.site.number().to_le_bytes());
        bytes[HEAD..].copy_from_slice(&self.object.to_le_bytes());
        bytes
    }

    /// Content of a message that begins with `head`.
    fn parse(head: [u8; HEAD], rest: &[u8]) -> Option<Ordered<'_>> {
        let [kind, how, low, high, 0, 0, 0, 0] = head else { return None };
        let (object, state) = rest.split_first_chunk()?;
        let site = Site::of_number(u16::from_le_bytes([low, high]));
        let place = Place { object: u64::from_le_bytes(*object), site };
        let why = match (kind, how) {
            (STATE, 1) => return Some(Ordered::State(place, Some(state))),
            (STATE, 0) => return state.is_empty().then_some(Ordered::State(place, None)),
            (PLACE, 0) => Why::Fixed,
            (PLACE, 1) => Why::Estimate,
            (PLACE, 2) => Why::Statistics,
            (PLACE, 3) => Why::Left,
            _ => return None,
        };
        state.is_empty().then_some(Ordered::Place(place, why))
    }
}

impl<'a> Ordered<'a> {
    /// True if all ranks that it names are of a job of `ranks` ranks.
    pub fn names_ranks_of(&self, ranks: usize) -> bool {
        match self {
            Ordered::Create(Creation { site, .. })
            | Ordered::Place(Place { site, .. }, _)
            | Ordered::State(Place { site, .. }, _) => match site {
                Site::Replicated => true,
                Site::Single(home) => home.index() < ranks,
            },
            Ordered::Fork(Fork { on, .. }, _) => on.index() < ranks,
            _ => true,
        }
    }

    /// A message of the order; `None` if it is none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        if bytes.first() == Some(&INVOKE) {
            let (invocation, arguments) = Invocation::parse(bytes)?;
            return Some(Ordered::Invoke(invocation, arguments));
        }
        let (&head, rest) = bytes.split_first_chunk::<HEAD>()?;
        match head[0] {
            CREATE => Creation::parse(head, rest).map(Ordered::Create),
            FORK => Fork::parse(head, rest).map(|(fork, rest)| Ordered::Fork(fork, rest)),
            END => End::parse(head, rest).map(|(end, rest)| Ordered::End(end, rest)),
            PLACE | STATE => Place::parse(head, rest),
            PROBE if head == PROBING && rest.is_empty() => Some(Ordered::Probe),
            ANSWER => parse_answer(head, rest),
            READS => parse_reads(head, rest),
            DELETE => parse_delete(head, rest),
            _ => None,
        }
    }
}

impl Reply {
    pub fn emit(&self) -> [u8; REPLY] {
        let mut bytes = [0; REPLY];
        bytes[0] = match &self.fault {
            None => 0,
            Some(Fault::NoSuchOperation) => 1,
            Some(Fault::Malformed) => 2,
            Some(Fault::NoCopy) => 3,
            Some(Fault::Broken) => 4,
            Some(Fault::Ended) => 5,
            Some(Fault::Moved(_)) => 6,
            Some(Fault::Deleted) => 7,
        };
        bytes[8..].copy_from_slice(&self.seen.to_le_bytes());
        bytes
    }

    pub fn parse(bytes: &[u8; REPLY]) -> Self {
        let fault = match bytes[0] {
            0 => None,
            1 => Some(Fault::NoSuchOperation),
            2 => Some(Fault::Malformed),
            3 => Some(Fault::NoCopy),
            5 => Some(Fault::Ended),
            6 => Some(Fault::Moved(Vec::new())),
            7 => Some(Fault::Deleted),
            // Whatever it was, there is no result.
            _ => Some(Fault::Broken),
        };
        let [.., a, b, c, d, e, f, g, h] = *bytes;
        Reply { fault, seen: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }

    /// End of the operation, whose reply goes on with `rest`.
    pub fn answer(self, rest: Vec<u8>) -> Result<Vec<u8>, Fault> {
        match self.fault {
            None => Ok(rest),
            Some(Fault::Moved(_)) => Err(Fault::Moved(rest)),
            Some(fault) => Err(fault),
        }
    }
}

#[cfg(test)]
mod tests;
