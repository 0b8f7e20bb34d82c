//! Jobs: positions to be searched, as they lie in memory and on the wire (thesis 8.4: 32 bytes).

/// Bytes of a job.
pub(crate) const JOB_BYTES: usize = 32;

/// Bytes of a job's position and the moves that led there.
const STORE: usize = 30;

/// A position to be searched: its encoding, the moves from the start to it in the bytes that are
/// left, and their number in two bytes, the low one first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct Job(pub [u8; JOB_BYTES]);

const _: () = assert!(size_of::<Job>() == JOB_BYTES && STORE + size_of::<u16>() == JOB_BYTES);

/// Division of a job's bytes: how many its position takes, and how many bits a move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    position: usize,
    move_bits: usize,
}

impl Layout {
    /// A layout, which is checked when the program is compiled.
    pub const fn new(position: usize, move_bits: usize) -> Self {
        assert!(position <= STORE, "an encoded position has 30 bytes at most");
        assert!(matches!(move_bits, 1 | 2 | 4 | 8), "a move has 1, 2, 4 or 8 bits");
        Layout { position, move_bits }
    }

    /// Moves that a job has room for.
    pub const fn room(self) -> usize {
        (STORE - self.position) * 8 / self.move_bits
    }

    /// Job of the position that a search starts from.
    pub fn start(self, encode: impl FnOnce(&mut [u8])) -> Job {
        let mut job = Job([0; JOB_BYTES]);
        encode(&mut job.0[..self.position]);
        job
    }

    /// Job of a position one move below that of `parent`, which has room for the move.
    #[inline]
    pub fn child(self, parent: &Job, by: u8, encode: impl FnOnce(&mut [u8])) -> Job {
        let (mut job, depth) = (*parent, usize::from(parent.depth()));
        encode(&mut job.0[..self.position]);
        let bit = depth * self.move_bits;
        job.0[self.position + bit / 8] |= by << (bit % 8);
        job.at_depth(parent.depth() + 1)
    }

    /// Bytes of the position.
    #[inline]
    pub fn position(self, job: &Job) -> &[u8] {
        &job.0[..self.position]
    }

    /// True if one more move fits.
    #[inline]
    pub fn has_room(self, job: &Job) -> bool {
        usize::from(job.depth()) < self.room()
    }

    /// The move that led to the position; `None` at the start.
    #[inline]
    pub fn last(self, job: &Job) -> Option<u8> {
        job.depth().checked_sub(1).map(|last| self.move_at(job, last.into()))
    }

    /// Moves from the start to the position.
    pub fn path(self, job: &Job) -> Vec<u8> {
        (0..job.depth().into()).map(|index| self.move_at(job, index)).collect()
    }

    #[inline]
    fn move_at(self, job: &Job, index: usize) -> u8 {
        let bit = index * self.move_bits;
        let mask = (1_u16 << self.move_bits).wrapping_sub(1) as u8;
        job.0[self.position + bit / 8] >> (bit % 8) & mask
    }
}

impl Job {
    /// Number of moves from the start.
    #[inline]
    pub fn depth(&self) -> u16 {
        u16::from_le_bytes([self.0[STORE], self.0[STORE + 1]])
    }

    /// The job with another number of moves.
    #[inline]
    pub fn at_depth(mut self, depth: u16) -> Self {
        [self.0[STORE], self.0[STORE + 1]] = depth.to_le_bytes();
        self
    }
}

#[cfg(test)]
mod tests;
