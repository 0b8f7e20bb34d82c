//! Messages of objects: creations and invocations, which are broadcast or called. Numbers are
//! little-endian.

use crate::objects::Placement;
use weft_endpoint::Rank;

/// Bytes of the name of an object, or a type, at most.
pub const NAME_MAX: usize = u8::MAX as usize;

/// Bytes before the arguments of an invocation, and before the names of a creation.
pub(crate) const INVOCATION: usize = 24;
const CREATION: usize = 8;

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
    /// Number by which the invoker knows it.
    pub call: u64,
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

/// The first byte of a reply to a call: how the operation ended. Its result follows.
pub(crate) mod reply {
    use crate::copy::Fault;

    /// It was executed.
    pub const DONE: u8 = 0;
    const FAULTS: [Fault; 4] =
        [Fault::NoSuchOperation, Fault::Malformed, Fault::NoCopy, Fault::Broken];

    /// The byte of a fault.
    pub fn of(fault: Fault) -> u8 {
        match fault {
            Fault::NoSuchOperation => 1,
            Fault::Malformed => 2,
            Fault::NoCopy => 3,
            Fault::Broken => 4,
        }
    }

    /// The fault of a byte; `None` if the operation was executed.
    pub fn fault(byte: u8) -> Option<Fault> {
        let last = Some(Fault::Broken);
        let place = byte.checked_sub(1)?;
        FAULTS.get(usize::from(place)).copied().or(last)
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
        use crate::copy::Fault::{Broken, Malformed, NoCopy, NoSuchOperation};
        for fault in [NoSuchOperation, Malformed, NoCopy, Broken] {
            assert_eq!(reply::fault(reply::of(fault)), Some(fault));
        }
        assert_eq!(reply::fault(reply::DONE), None);
        assert_eq!(reply::fault(200), Some(Broken), "whatever it was, there is no result");
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
