//! Bounds on what messages hold.

/// Bytes of the longest message between a launcher and a rank.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the longest message between a launcher and an agent, without its length: enough for
/// what a command line can be.
pub const HOST_MESSAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of the longest answer about a job: a roll call has up to 400 for each rank, and few
/// stacks.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Bytes of the longest text; a longer report is cut.
pub const TEXT_BYTES_MAX: usize = 2048;
/// The most ranks of a job that spans hosts.
pub const RANKS_MAX: u16 = 1024;
/// The most hosts of a job.
pub const HOSTS_MAX: usize = 256;
/// The most addresses of a host that are looked at.
pub const CANDIDATES_MAX: usize = 64;
/// The most stacks of a roll call: each takes some time.
pub const STACKS_MAX: usize = 8;

/// The longest beginning of `text` that fits into a message.
pub fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
