//! The program's bytes: what a send reads and a receive writes.
//!
//! libfabric's manual leaves a buffer to the provider from the call that names it until its
//! completion is read, or until the call returns where it says so (`FI_INJECT`); and registered
//! memory from its registration until its region is closed, with the rights that the registration
//! names. Of a region that is longer than what is allocated there, the program answers for each
//! access (`fi_mr(3)`). That is the proof of each block here: a [`Memory`] is made from the
//! arguments of such a call, and lives until its operation ends or its region is closed.
#![allow(unsafe_code)]

use crate::abi::Iovec;
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::slice;
use weft_endpoint::{Borrowed, Posted, PostedHead, copy_out_to};

/// Pieces that an I/O vector may have.
pub(crate) const PIECES_MAX: usize = 8;

/// `void *buf`: bytes to read or to write, as many as C says beside.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Buffer(*mut c_void);

impl Buffer {
    /// The bytes, if they are few: no more than `most`.
    #[inline(always)]
    pub fn few<'a>(self, length: usize, most: usize) -> Option<&'a [u8]> {
        let is_it = length <= most && !self.0.is_null();
        // SAFETY: C promises `length` bytes during the call, and the slice is used in no other.
        is_it.then(|| unsafe { slice::from_raw_parts(self.0.cast(), length) })
    }

    /// The bytes.
    #[inline]
    pub fn memory(self, length: usize) -> Result<Memory> {
        if (self.0.is_null() && length > 0) || length > isize::MAX as usize {
            return Err(Refusal::INVALID);
        }
        Ok(Memory { whole: Piece { start: self.0.cast(), length }, elsewhere: None })
    }

    /// Addresses for others to access, of which memory need not lie behind all: the whole address
    /// space begins at null, and has no last byte.
    pub fn addresses(self, length: usize) -> Result<Memory> {
        if self.0.addr().checked_add(length).is_none() {
            return Err(Refusal::INVALID);
        }
        let start = std::ptr::with_exposed_provenance_mut(self.0.expose_provenance());
        Ok(Memory { whole: Piece { start, length }, elsewhere: None })
    }
}

/// `const struct iovec *`: pieces, as many as C says beside.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Vector(*const Iovec);

impl Vector {
    /// No pieces.
    pub const NONE: Vector = Vector(std::ptr::null());

    /// The pieces of a message.
    pub fn of(message: *const Iovec) -> Self {
        Vector(message)
    }

    /// The bytes.
    pub fn memory(self, count: usize) -> Result<Memory> {
        self.elements(count, 1)
    }

    /// Addresses for others to access.
    pub fn addresses(self, count: usize) -> Result<Memory> {
        if count != 1 || self.0.is_null() {
            return self.memory(count);
        }
        // SAFETY: C promises one piece during the call; it need not be aligned.
        let Iovec { base, length } = unsafe { self.0.read_unaligned() };
        Buffer(base).addresses(length)
    }

    /// The bytes of pieces that count elements of `size` bytes (`struct fi_ioc`).
    pub fn elements(self, count: usize, size: usize) -> Result<Memory> {
        if count == 0 {
            return Ok(Memory::NONE);
        }
        if count > PIECES_MAX || self.0.is_null() {
            return Err(Refusal::INVALID);
        }
        let mut pieces = [Iovec { base: std::ptr::null_mut(), length: 0 }; PIECES_MAX];
        for (number, piece) in pieces[..count].iter_mut().enumerate() {
            // SAFETY: C promises `count` pieces during the call, of which this is one; they need
            // not be aligned.
            *piece = unsafe { self.0.add(number).read_unaligned() };
        }
        let pieces = &pieces[..count];
        let bytes = |piece: &Iovec| piece.length.checked_mul(size).ok_or(Refusal::INVALID);
        let memory = |piece: &Iovec| Buffer(piece.base).memory(bytes(piece)?);
        if let [one] = pieces {
            return memory(one);
        }
        let mut all = Vec::with_capacity(count);
        let mut length = 0_usize;
        for piece in pieces {
            memory(piece)?;
            let bytes = bytes(piece)?;
            length = length.checked_add(bytes).ok_or(Refusal::INVALID)?;
            all.push(Piece { start: piece.base.cast(), length: bytes });
        }
        let whole = Piece { start: pieces[0].base.cast(), length };
        Ok(Memory { whole, elsewhere: Some(Box::new(Elsewhere::Pieces(all.into()))) })
    }
}

/// One piece of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    start: *mut u8,
    length: usize,
}

// SAFETY: the bytes are the provider's while the operation lasts, on whatever thread it runs.
unsafe impl Send for Piece {}

impl Piece {
    const NONE: Piece = Piece { start: std::ptr::null_mut(), length: 0 };

    /// Its bytes.
    #[inline(always)]
    pub fn length(self) -> usize {
        self.length
    }

    /// Writes as many of `bytes` as there is room for to where it begins.
    #[inline(always)]
    pub fn fill(self, bytes: &[u8]) {
        let length = bytes.len().min(self.length);
        let (start, bytes) = (self.start, &bytes[..length]);
        // SAFETY: a piece is one that the program has posted to be written or lets others write, or
        // a part of it, and the program uses it for nothing else meanwhile; `bytes` are in link
        // memory, or in a send of this rank, of which the program promises that it is elsewhere.
        // There are as many on both sides.
        unsafe {
            match length {
                // A copy of known length is no call.
                8 => start.copy_from(bytes.as_ptr(), 8),
                _ => copy_out_to(start, bytes),
            }
        }
    }
}

/// Bytes of one operation.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Start of the bytes, as a completion reports it, and their number. They lie here in one
    /// piece, as most do, unless they lie elsewhere.
    whole: Piece,
    elsewhere: Option<Box<Elsewhere>>,
}

/// Bytes that do not lie in one piece of the program's.
#[derive(Debug)]
enum Elsewhere {
    Pieces(Box<[Piece]>),
    /// The provider's own: the copy of a send whose buffer goes back at once.
    Own(Box<[u8]>),
}

impl Memory {
    /// No bytes.
    pub const NONE: Memory = Memory { whole: Piece::NONE, elsewhere: None };

    /// Bytes of the provider's own.
    fn of_own(bytes: Vec<u8>) -> Self {
        let whole = Piece { length: bytes.len(), ..Piece::NONE };
        Memory { whole, elsewhere: Some(Box::new(Elsewhere::Own(bytes.into()))) }
    }

    /// The piece of the program's in which all bytes lie.
    #[inline(always)]
    pub fn one(&self) -> Option<Piece> {
        self.elsewhere.is_none().then_some(self.whole)
    }

    /// Puts the bytes of `other` at `offset`; nothing if they are there.
    pub fn copy(&mut self, offset: u64, other: &Memory) {
        if let (Some(into), Some(from)) = (self.one(), other.one())
            && into.start.wrapping_add(offset as usize) == from.start
        {
            return;
        }
        let mut at = offset;
        other.read(0, other.length(), &mut |bytes| {
            self.write(at, bytes);
            at += bytes.len() as u64;
        });
    }

    /// Number of bytes.
    #[inline(always)]
    pub fn length(&self) -> usize {
        self.whole.length
    }

    /// Start of the bytes, as a completion reports it.
    #[inline(always)]
    pub fn start(&self) -> Context {
        Context::of(self.whole.start.cast())
    }

    /// Calls `take` with what there is of the `length` bytes from `offset` on.
    #[inline(always)]
    pub fn read(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        match self.one() {
            Some(piece) if offset == 0 && length == piece.length && length > 0 => {
                // SAFETY: as in `read_part`.
                take(unsafe { slice::from_raw_parts(piece.start, length) });
            }
            _ => self.read_part(offset, length, take),
        }
    }

    /// Copies the first bytes, as many as there is room for.
    #[inline]
    pub fn read_all(&self, into: &mut [u8]) {
        if into.is_empty() {
            return;
        }
        let mut at = 0;
        self.read(0, into.len(), &mut |bytes| {
            into[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        });
    }

    #[inline(never)]
    fn read_part(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        if let Some(Elsewhere::Own(bytes)) = self.elsewhere.as_deref() {
            let (start, end) = range(bytes.len(), offset, length);
            return take(&bytes[start..end]);
        }
        self.each(offset, length, &mut |piece, _| {
            // SAFETY: the range is inside of a piece of the program's, which it does not write
            // while it is sent; of a region, which it does not write while others may read it.
            take(unsafe { slice::from_raw_parts(piece.start, piece.length) });
        });
    }

    /// Writes `bytes` from `offset` on, as far as there is room.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        if let Some(Elsewhere::Own(own)) = self.elsewhere.as_deref_mut() {
            let (start, end) = range(own.len(), offset, bytes.len());
            return own[start..end].copy_from_slice(&bytes[..end - start]);
        }
        self.each(offset, bytes.len(), &mut |piece, at| {
            let part = &bytes[at..at + piece.length];
            piece.fill(part);
        });
    }

    /// Address of the bytes in this process, if they lie in one piece: others read them there while
    /// their operation lasts.
    pub fn lies_at(&self) -> Option<u64> {
        let start = match self.elsewhere.as_deref() {
            None => self.whole.start.cast_const(),
            Some(Elsewhere::Pieces(_)) => return None,
            Some(Elsewhere::Own(bytes)) => bytes.as_ptr(),
        };
        Some(start.expose_provenance() as u64)
    }

    /// The `length` bytes from `offset` on, for packets to leave from, if they lie in one piece of
    /// the program's. Only for a send that has begun and is no inject.
    pub fn borrowed(&self, offset: u64, length: usize) -> Option<Borrowed> {
        let piece = self.one()?;
        let (start, end) = range(piece.length, offset, length);
        if end - start < length {
            return None;
        }
        // SAFETY: the range is in a buffer that the program leaves readable and as it is until the
        // completion of its send is reported. `Exchange` has that wait until the network has all of
        // the buffer back (`Until::Back`), and an endpoint is not closed before.
        Some(unsafe { Borrowed::new(slice::from_raw_parts(piece.start.add(start), length)) })
    }

    /// The first `length` bytes, of which `there` are there already, for packets to be read into,
    /// if they lie in one piece of the program's. Only for a receive that has begun.
    pub fn posted(&self, head: PostedHead, length: usize, there: usize) -> Option<Posted> {
        let piece = self.one().filter(|piece| length <= piece.length)?;
        // SAFETY: the range is in a buffer that the program has posted to be written, and uses for
        // nothing else until the completion of its receive is reported. `Exchange` has the network
        // give it up before that (`end_posting`), and when it fails or the job is left
        // (`call_off`); an endpoint is not closed before. What it writes itself meanwhile is none
        // of what the network reads there.
        NonNull::new(piece.start).map(|start| unsafe { Posted::new(head, start, length, there) })
    }

    /// The `length` bytes from `offset` on, to be written, if there are such and they lie in one
    /// piece.
    pub fn piece(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        let (start, end) = range(self.length(), offset, length);
        if end - start != length || length == 0 {
            return None;
        }
        match self.elsewhere.as_deref_mut() {
            None => {
                let start = self.whole.start.wrapping_add(start);
                // SAFETY: the range is inside of a piece that the program has posted to be written
                // or lets others write, and uses for nothing else meanwhile; whoever has this slice
                // has borrowed the only one who knows the piece.
                Some(unsafe { slice::from_raw_parts_mut(start, length) })
            }
            Some(Elsewhere::Pieces(_)) => None,
            Some(Elsewhere::Own(bytes)) => Some(&mut bytes[start..end]),
        }
    }

    /// The part of one piece from `offset` on; empty of others.
    pub fn cut(&self, offset: usize, length: usize) -> Memory {
        let Some(piece) = self.one() else { return Memory::NONE };
        let (start, end) = range(piece.length, offset as u64, length);
        let whole = Piece { start: piece.start.wrapping_add(start), length: end - start };
        Memory { whole, elsewhere: None }
    }

    /// A copy that needs the program's bytes no longer.
    pub fn own(&self) -> Memory {
        let mut copy = Vec::with_capacity(self.length());
        self.read(0, self.length(), &mut |bytes| copy.extend_from_slice(bytes));
        Memory::of_own(copy)
    }

    /// Visits the parts of pieces that are in the range, with where in the range they begin.
    #[inline]
    fn each(&self, offset: u64, length: usize, visit: &mut dyn FnMut(Piece, usize)) {
        let pieces = match self.elsewhere.as_deref() {
            None => slice::from_ref(&self.whole),
            Some(Elsewhere::Pieces(pieces)) => pieces,
            Some(Elsewhere::Own(_)) => return,
        };
        let (mut skip, mut done) = (offset, 0);
        for piece in pieces {
            let (start, end) = range(piece.length, skip, length - done);
            skip = skip.saturating_sub(piece.length as u64);
            if end > start {
                visit(Piece { start: piece.start.wrapping_add(start), length: end - start }, done);
                done += end - start;
            }
        }
    }
}

/// The part of `0..whole` that begins at `offset` and has up to `length`.
#[inline]
fn range(whole: usize, offset: u64, length: usize) -> (usize, usize) {
    let start = usize::try_from(offset).map_or(whole, |offset| offset.min(whole));
    (start, start + length.min(whole - start))
}

#[cfg(test)]
mod tests;
