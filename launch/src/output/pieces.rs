//! Cutting a stream of bytes into pieces that may stand alone: lines, and what ends in a carriage
//! return.

/// Bytes of the longest piece that is waited for; what is longer is passed on in several.
pub(crate) const PIECE_BYTES_MAX: usize = 64 * 1024;

/// The beginning of a piece whose end has not arrived.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    begun: Vec<u8>,
}

impl Pieces {
    /// Takes in bytes, and passes on every piece that they complete.
    ///
    /// A piece ends after a line feed, after a carriage return (so that progress bars move), or
    /// when it has become too long to be kept.
    pub fn take_in(&mut self, bytes: &[u8], mut pass_on: impl FnMut(&[u8])) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
            if self.begun.is_empty() && ends(part) {
                pass_on(part);
                continue;
            }
            self.begun.extend(part);
            if ends(part) || self.begun.len() >= PIECE_BYTES_MAX {
                pass_on(&self.begun);
                self.begun.clear();
            }
        }
    }

    /// Passes on what has begun: nothing more will come.
    pub fn finish(&mut self, mut pass_on: impl FnMut(&[u8])) {
        if !self.begun.is_empty() {
            pass_on(&self.begun);
            self.begun.clear();
        }
    }
}

fn ends(part: &[u8]) -> bool {
    matches!(part.last(), Some(b'\n' | b'\r'))
}

#[cfg(test)]
mod tests;
