//! Options of a job.

use std::collections::BTreeMap;

use super::bounds::TEXT_BYTES_MAX;
use super::checks::ensure;
use super::format::BadMessage;

/// Options of a job by name, such as `preset` or `tree`; what they mean is not the launcher's
/// concern.
pub type Options = BTreeMap<String, String>;

/// The option that tells ranks how many cores the ranks of a host share.
pub const CORES: &str = "cores";
/// The option with the number of ranks of the job, for whoever asks for their memory.
pub const RANKS: &str = "ranks";
/// The option that tells ranks and agents what a loss does to the job, unless it ends the job.
pub const ON_LOSS: &str = "on-loss";
/// The option with the file for the trace.
pub const TRACE: &str = "trace";

/// Bytes of all options together, at most.
pub const OPTIONS_BYTES_MAX: usize = 32 * 1024;
/// The most options that a job may have.
pub const OPTIONS_MAX: usize = 64;

/// Checks that these options fit into a message.
///
/// # Errors
/// [`BadMessage::Range`] if there are too many or one is too long.
pub fn check_options(options: &Options) -> Result<(), BadMessage> {
    let text_fits = |text: &String| text.len() <= TEXT_BYTES_MAX;
    let bytes: usize = options.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let fits = options.len() <= OPTIONS_MAX
        && options.iter().all(|(name, value)| text_fits(name) && text_fits(value))
        && bytes <= OPTIONS_BYTES_MAX;
    ensure(fits, "set of options")
}
