//! Number of chunks that the kernel has for arrivals.
//!
//! It uses them in turn. As many as there are is best for bursts, and worst for the caches: the
//! chunks of a thousand frames are megabytes, and each is cold when its turn comes, which costs a
//! frame that comes alone 200 ns. So the kernel has few, the last ones used, as long as looks find
//! few frames.

/// Chunks that the kernel has at least: four looks' worth of frames.
const LEAST: u32 = 128;
/// Looks that find few frames, after which the kernel gets fewer chunks.
const QUIET: u32 = 256;

/// Target number of chunks that the kernel has.
pub(crate) struct Depth {
    chunks: u32,
    most: u32,
    quiet: u32,
}

impl Depth {
    /// All of `most` at first.
    pub fn new(most: u32) -> Self {
        Depth { chunks: most, most, quiet: 0 }
    }

    /// Number of chunks.
    #[inline]
    pub fn chunks(&self) -> u32 {
        self.chunks
    }

    /// A look found so many frames. A quarter of what the kernel had at once says that a burst may
    /// need more.
    #[inline]
    pub fn found(&mut self, frames: u32) {
        if frames > self.chunks / 4 {
            self.chunks = self.chunks.saturating_mul(4).min(self.most);
            self.quiet = 0;
            return;
        }
        self.quiet += 1;
        if self.quiet >= QUIET {
            self.chunks = (self.chunks / 2).max(LEAST).min(self.most);
            self.quiet = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet_for(depth: &mut Depth, looks: u32) {
        (0..looks).for_each(|_| depth.found(1));
    }

    #[test]
    fn who_gets_frames_one_by_one_keeps_few_chunks_in_use() {
        let mut depth = Depth::new(2081);
        assert_eq!(depth.chunks(), 2081);
        quiet_for(&mut depth, QUIET - 1);
        assert_eq!(depth.chunks(), 2081);
        quiet_for(&mut depth, 4 * QUIET);
        assert_eq!(depth.chunks(), 130);
        quiet_for(&mut depth, 9 * QUIET);
        assert_eq!(depth.chunks(), LEAST);
    }

    #[test]
    fn a_burst_brings_them_back() {
        let mut depth = Depth::new(2081);
        quiet_for(&mut depth, 9 * QUIET);
        depth.found(LEAST / 4);
        assert_eq!(depth.chunks(), LEAST);
        depth.found(LEAST / 4 + 1);
        assert_eq!(depth.chunks(), 4 * LEAST);
        depth.found(LEAST + 1);
        assert_eq!(depth.chunks(), 4 * 4 * LEAST);
        depth.found(2081);
        assert_eq!(depth.chunks(), 2081);
    }

    #[test]
    fn there_may_be_fewer_than_the_least() {
        let mut depth = Depth::new(65);
        quiet_for(&mut depth, 2 * QUIET);
        assert_eq!(depth.chunks(), 65);
    }
}
