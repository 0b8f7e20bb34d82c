//! Messages of objects: creations and invocations, which are broadcast or called. Numbers are
//! little-endian.

use crate::copy::Fault;
use crate::objects::Placement;
use weft_endpoint::Rank;

/// Bytes of the name of an object, or a type, at most.
pub const NAME_MAX: usize = u8::MAX as usize;

/// Bytes before the arguments of an invocation, and before the names of a creation.
pub(crate) const INVOCATION: usize = 24;
const CREATION: usize = 8;

/// Bytes before the result in a reply.
pub(crate) const REPLY: usize = 16;

const CREATE: u8 = 1;
const INVOKE: u8 = 2;
/// A home that says that there are copies everywhere.
const EVERYWHERE: u16 = u16::MAX;

/// Invocation of an operation; its arguments follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Invocation {
    pub operation: u16,
    /// The object: number of its creation in the order.
    pub object: u64,
    /// Number by which the invoker knows it, if it is broadcast. If it is called, the number of
    /// messages of the order that the caller has seen.
    pub call: u64,
}

/// Beginning of the reply to a call; the result follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    /// Reason why there is no result.
    pub fault: Option<Fault>,
    /// Messages of the order that the home has seen.
    pub seen: u64,
}

/// Creation of an object.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Creation<'a> {
    pub placement: Placement,
    pub name: &'a str,
    pub kind: &'a str,
    pub state: &'a [u8],
}

/// A message of the order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Ordered<'a> {
    Create(Creation<'a>),
    Invoke(Invocation, &'a [u8]),
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
        bytes[8..16].copy_from_slice(&self.object.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.call.to_le_bytes());
        bytes
    }

    /// An invocation and its arguments; `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, arguments) = bytes.split_first_chunk::<INVOCATION>()?;
        let [INVOKE, 0, low, high, 0, 0, 0, 0, ids @ ..] = head else { return None };
        let (object, call) = ids.split_first_chunk::<8>()?;
        let invocation = Invocation {
            operation: u16::from_le_bytes([*low, *high]),
            object: u64::from_le_bytes(*object),
            call: u64::from_le_bytes(call.try_into().ok()?),
        };
        Some((invocation, arguments))
    }
}

impl Creation<'_> {
    /// The beginning; the names and the state follow. Names are no longer than [`NAME_MAX`].
    pub fn emit(&self) -> [u8; CREATION] {
        let home = match self.placement {
            Placement::Replicated => EVERYWHERE,
            Placement::Single(home) => home.0,
        };
        let [low, high] = home.to_le_bytes();
        [CREATE, 0, low, high, self.name.len() as u8, self.kind.len() as u8, 0, 0]
    }
}

impl<'a> Ordered<'a> {
    /// A message of the order; `None` if it is none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        if bytes.first() == Some(&INVOKE) {
            let (invocation, arguments) = Invocation::parse(bytes)?;
            return Some(Ordered::Invoke(invocation, arguments));
        }
        let (head, rest) = bytes.split_first_chunk::<CREATION>()?;
        let &[CREATE, 0, low, high, name, kind, 0, 0] = head else { return None };
        let (name, rest) = rest.split_at_checked(name.into())?;
        let (kind, state) = rest.split_at_checked(kind.into())?;
        let placement = match u16::from_le_bytes([low, high]) {
            EVERYWHERE => Placement::Replicated,
            home => Placement::Single(Rank(home)),
        };
        let [name, kind] = [name, kind].map(std::str::from_utf8);
        Some(Ordered::Create(Creation { placement, name: name.ok()?, kind: kind.ok()?, state }))
    }
}

impl Reply {
    pub fn emit(&self) -> [u8; REPLY] {
        let mut bytes = [0; REPLY];
        bytes[0] = match self.fault {
            None => 0,
            Some(Fault::NoSuchOperation) => 1,
            Some(Fault::Malformed) => 2,
            Some(Fault::NoCopy) => 3,
            Some(Fault::Broken) => 4,
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
            // Whatever it was, there is no result.
            _ => Some(Fault::Broken),
        };
        let [.., a, b, c, d, e, f, g, h] = *bytes;
        Reply { fault, seen: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creations_and_invocations_are_read_as_they_were_written() {
        for placement in [Placement::Replicated, Placement::Single(Rank(513))] {
            let creation = Creation { placement, name: "counter", kind: "Int", state: &[1, 2, 3] };
            let parts = [&creation.emit()[..], b"counter", b"Int", &[1, 2, 3]];
            let bytes = parts.concat();
            assert_eq!(Ordered::parse(&bytes), Some(Ordered::Create(creation)));
        }
        let invocation = Invocation { operation: 258, object: u64::MAX - 1, call: 7 };
        let bytes = [&invocation.emit()[..], b"arguments"].concat();
        assert_eq!(Ordered::parse(&bytes), Some(Ordered::Invoke(invocation, b"arguments")));
    }

    #[test]
    fn replies_say_how_an_operation_ended() {
        let faults = [Fault::NoSuchOperation, Fault::Malformed, Fault::NoCopy, Fault::Broken];
        for fault in faults.map(Some).into_iter().chain([None]) {
            let reply = Reply { fault, seen: u64::MAX - 3 };
            assert_eq!(Reply::parse(&reply.emit()), reply);
        }
        assert_eq!(Reply::parse(&[200; REPLY]).fault, Some(Fault::Broken));
    }

    #[test]
    fn everything_else_is_refused() {
        let invocation = Invocation { operation: 1, object: 2, call: 3 }.emit();
        assert_eq!(Ordered::parse(&invocation[..INVOCATION - 1]), None);
        let creation =
            Creation { placement: Placement::Replicated, name: "a", kind: "b", state: &[] };
        let creation = [&creation.emit()[..], b"ab"].concat();
        assert!(Ordered::parse(&creation).is_some());
        assert_eq!(Ordered::parse(&creation[..creation.len() - 1]), None);
        for (place, value) in [(0, 0), (0, 3), (1, 1), (4, 9), (6, 1), (8, 0xff)] {
            let mut wrong = creation.clone();
            wrong[place] = value;
            assert_eq!(Ordered::parse(&wrong), None, "{place}");
        }
        assert_eq!(Ordered::parse(&[]), None);
    }
}
