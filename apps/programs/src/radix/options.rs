use clap::{Parser, value_parser};
use weft_app_common::Coherence;

const EXAMPLES: &str = "\
Examples:
  radix --verify                                     3,000,000 keys on one rank
  weft run -n 4 -- radix --speedup                   on four ranks, and how much faster they are
  weft run -n 4 -- radix --keys 100000 --bits 32 --radix 256 --verify
  weft run -n 4 -- radix --pull --prefetch --data loans --region-bytes 65536 --speedup
                                                     as fits today's machines
  weft sim radix -n 64                               on 64 simulated ranks of the thesis's cluster";

/// Sorts integers by their digits (radix sort), on all ranks of a Weft job, in shared regions
///
/// Each rank owns a part of the keys, which is divided into regions. In each pass the ranks count
/// the digits of their keys, learn what all others have counted, and write their keys to the places
/// where they belong, which are mostly in parts of others.
#[derive(Debug, Clone, Parser)]
#[command(name = "radix", version, after_help = EXAMPLES)]
pub struct Options {
    /// Number of keys
    #[arg(long, default_value = "3000000", value_parser = value_parser!(u32).range(1..=100_000_000))]
    pub keys: u32,

    /// Bits of a key
    #[arg(long, default_value = "21", value_parser = value_parser!(u32).range(1..=32))]
    pub bits: u32,

    /// Values of a digit: a power of two
    #[arg(long, default_value = "128", value_parser = radix)]
    pub radix: u32,

    /// Bytes of a region: a multiple of 4
    #[arg(long, default_value = "1024", value_name = "BYTES", value_parser = region)]
    pub region_bytes: u32,

    /// Take keys out of the parts of others, instead of writing them there: each crosses once, and
    /// no region is written by two ranks; with --data loans none is copied for that
    #[arg(long)]
    pub pull: bool,

    /// Fixes the keys
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,

    /// Check the result against the standard library's sort
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    #[command(flatten)]
    pub(crate) coherence: Coherence,
}

impl Options {
    /// Number of digits of a key.
    pub fn passes(&self) -> u32 {
        self.bits.div_ceil(self.radix.ilog2())
    }
}

fn radix(text: &str) -> Result<u32, String> {
    let radix = text.parse().ok().filter(|radix| (2..=65_536).contains(radix));
    let radix = radix.filter(|radix: &u32| radix.is_power_of_two());
    radix.ok_or_else(|| "digits are some bits of a key: a power of two from 2 to 65536".into())
}

fn region(text: &str) -> Result<u32, String> {
    let bytes = text.parse().ok().filter(|bytes| (4..=1 << 20).contains(bytes));
    let bytes = bytes.filter(|bytes: &u32| bytes.is_multiple_of(4));
    bytes.ok_or_else(|| "a region has whole keys: a multiple of 4, from 4 to 1048576".into())
}

#[cfg(test)]
mod tests;
