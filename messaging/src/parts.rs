//! Bytes that can be sent: one or several slices.

use std::io::IoSlice;

/// An I/O vector: the bytes of a message, in pieces. Sending gathers them into packets; nothing is
/// put together beforehand (thesis 6.1.3).
pub trait Parts {
    /// Calls `visit` with each piece in order.
    fn for_each(&self, visit: &mut dyn FnMut(&[u8]));

    /// The bytes, if they are all in one piece.
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        None
    }

    /// Bytes in all pieces.
    #[inline]
    fn total(&self) -> usize {
        if let Some(whole) = self.whole() {
            return whole.len();
        }
        let mut total = 0;
        self.for_each(&mut |part| total += part.len());
        total
    }
}

impl Parts for [u8] {
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self);
    }
}

impl<const N: usize> Parts for [u8; N] {
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self);
    }
}

impl Parts for Vec<u8> {
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self);
    }
}

impl Parts for str {
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self.as_bytes());
    }
}

impl Parts for String {
    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self.as_bytes());
    }
}

impl Parts for [IoSlice<'_>] {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|part| visit(part));
    }
}

impl<const N: usize> Parts for [IoSlice<'_>; N] {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|part| visit(part));
    }
}

impl Parts for [&[u8]] {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|part| visit(part));
    }
}

impl<const N: usize> Parts for [&[u8]; N] {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|part| visit(part));
    }
}
