//! The object that is measured: an array of bytes, marshalled as the attribute `#[object]` does it.
//!
//! Its type is one that is made as the program runs, because such a one knows the rank that it is
//! at, to which its operations declare what the host does.

use crate::cluster::{now, work_to_operate, work_to_receive, work_to_send, work_to_update};
use crate::experiments::panda::{Read, SENDER};
use anyhow::Result;
use weft::{Rank, Weft};
use weft_endpoint::Packets;
use weft_object::marshal::{Arguments, array, count, values};
use weft_object::{
    Dynamic, DynamicType, Effect, Handle, Instance, Objects, Outcome, Placement, Types,
};

/// Rank of the only copy.
pub(super) const HOME: Rank = Rank(1);

/// Name of the object, and of its type.
const NAME: &str = "array";

/// Number of the operation that returns the array that it takes.
const ECHO: u16 = 0;
/// Number of the one that only takes it.
const STORE: u16 = 1;

/// The object, as a rank has it.
pub(super) struct Shared {
    handle: Handle<Dynamic>,
    packets: Packets,
    /// Times at which the copy here had executed what another rank had begun.
    pub read: Read,
}

/// A copy.
struct Array {
    packets: Packets,
    read: Read,
    bytes: Vec<u8>,
}

impl Shared {
    /// The object, there; all ranks know it when this returns.
    pub fn new(weft: &Weft, placement: Placement) -> Result<Self> {
        let (packets, read) = (weft.packets().clone(), Read::default());
        let of = (packets.clone(), read.clone());
        let restore = move |state: &[u8]| {
            let ((packets, read), bytes) = (of.clone(), state.to_vec());
            Some(Box::new(Array { packets, read, bytes }) as Box<dyn Instance>)
        };
        let operations = ["echo", "store"].map(|name| (name.to_owned(), Effect::Write)).into();
        let kind = DynamicType { name: NAME.into(), operations, restore: Box::new(restore) };
        let types = Types::default().with_dynamic(kind);
        let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
        let handle = match weft.rank() {
            Rank(0) => objects.create_dynamic(NAME, NAME, &[], placement)?,
            _ => objects.find_dynamic(NAME, NAME)?,
        };
        weft.barrier()?;
        Ok(Shared { handle, packets, read })
    }

    /// Has the only copy, which is elsewhere, return the array.
    pub fn echo(&self, bytes: &[u8]) -> Result<()> {
        work_to_send(&self.packets);
        let result = self.invoke(ECHO, bytes)?;
        work_to_receive(&self.packets);
        debug_assert_eq!(result.len(), bytes.len(), "it is the array, which was copied as it came");
        Ok(())
    }

    /// Has all copies store the array; what the writer does for that is declared by the caller.
    pub fn store(&self, bytes: &[u8]) -> Result<()> {
        self.invoke(STORE, bytes).map(drop)
    }

    fn invoke(&self, operation: u16, bytes: &[u8]) -> Result<Vec<u8>> {
        let values = values(&(count(bytes)?,))?;
        Ok(self.handle.invoke(operation, &[array(bytes), &values[..]])?)
    }
}

impl Instance for Array {
    fn read(&self, _: u16, _: &[u8], _: &mut Vec<u8>) -> Outcome {
        Outcome::Blocked
    }

    fn write(&mut self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome {
        let Some(bytes) = unmarshalled(arguments) else { return Outcome::Malformed };
        // What is longer than a packet was copied as it came, and is used where it was copied to. A
        // writer has its own from no packet.
        let is_own = operation == STORE && self.packets.rank() == SENDER;
        if is_own || arguments.len() <= self.packets.max_payload() {
            self.packets.copied(bytes.len());
        }
        if operation == ECHO {
            work_to_receive(&self.packets);
            work_to_operate(&self.packets);
            work_to_send(&self.packets);
            self.read.note(now(&self.packets));
            *result = bytes;
            return Outcome::Done;
        }
        work_to_update(&self.packets);
        // The writer has what it sent.
        if self.packets.rank() != SENDER {
            work_to_receive(&self.packets);
            self.read.note(now(&self.packets));
        }
        self.bytes = bytes;
        Outcome::Done
    }

    fn capture(&self) -> Vec<u8> {
        self.bytes.clone()
    }
}

/// The array that an operation takes.
fn unmarshalled(arguments: &[u8]) -> Option<Vec<u8>> {
    let mut arguments = Arguments::parse(arguments)?;
    let (count,) = arguments.values::<(u32,)>()?;
    let bytes = arguments.array::<u8>(count)?.into_owned();
    arguments.is_read().then_some(bytes)
}
