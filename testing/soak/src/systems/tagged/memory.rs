//! Memory of messages and operations: what bytes there are follows from what their envelope says.

use weft_collective::OperationMemory;
use weft_collective::schedule::Area;
use weft_endpoint::Rank;
use weft_tagged::{SendSource, Sink};

/// A message to send.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
    /// The receiver of a synchronous message.
    told: Option<Rank>,
}

impl Message {
    /// A message of `length` bytes, with this data beside them.
    pub fn new(data: Option<u64>, length: u64, told: Option<Rank>) -> Self {
        let data = data.unwrap_or(0);
        Message { bytes: (0..length).map(|at| byte(data, at)).collect(), told }
    }

    /// The receiver of a synchronous message, which has all of it when the message ends.
    pub fn told(&self) -> Option<Rank> {
        self.told
    }
}

/// A byte of the message with this data.
fn byte(data: u64, at: u64) -> u8 {
    (data >> (at % 5 * 8)) as u8 ^ (at * 7 + at / 256) as u8
}

impl SendSource for Message {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.bytes[offset as usize..][..length]);
    }

    fn lies_at(&self) -> Option<u64> {
        Some(self.bytes.as_ptr().expose_provenance() as u64)
    }
}

/// Memory of a posted receive.
#[derive(Debug)]
pub struct Room {
    bytes: Vec<u8>,
    /// Number of the receive, in the order of posting.
    pub number: u64,
    /// True if it is one of those for anything.
    pub for_all: bool,
}

impl Room {
    pub fn new(number: u64, capacity: u64) -> Self {
        Room { bytes: vec![0; capacity as usize], number, for_all: false }
    }

    /// True if it has the first bytes of a message of `length` bytes with this data.
    pub fn has(&self, data: u64, length: u64) -> bool {
        let expected = (0..length).map(|at| byte(data, at));
        self.bytes.iter().zip(expected).all(|(byte, expected)| *byte == expected)
    }
}

impl Sink for Room {
    fn capacity(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        let offset = (offset as usize).min(self.bytes.len());
        let fits = bytes.len().min(self.bytes.len() - offset);
        self.bytes[offset..][..fits].copy_from_slice(&bytes[..fits]);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(offset as usize..)?.get_mut(..length)
    }
}

/// Numbers of an operation, and its result in their place.
#[derive(Debug)]
pub struct Numbers(Vec<u8>);

impl Numbers {
    pub fn new(numbers: &[u64]) -> Self {
        Numbers(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    pub fn numbers(&self) -> Vec<u64> {
        let (numbers, _) = self.0.as_chunks();
        numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
    }
}

impl OperationMemory for Numbers {
    fn read(&self, _: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.0[at..][..length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..][..bytes.len()].copy_from_slice(bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        self.0.copy_within(from..from + length, at);
    }
}
