/// The `index`-th number of a sequence that looks random, which its seed fixes: 64 bits
/// (SplitMix64).
pub fn random(seed: u64, index: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    mixed(mixed(seed.wrapping_mul(STEP)) ^ index.wrapping_add(1).wrapping_mul(STEP))
}

/// Noise as a number between -1 and 1.
pub fn noise(seed: u64, index: u64) -> f64 {
    // 53 bits fill a double's fraction, so the conversion is exact.
    (random(seed, index) >> 11) as f64 * (2.0 / (1_u64 << 53) as f64) - 1.0
}

/// Mixes the bits of a number; 0 stays 0.
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
