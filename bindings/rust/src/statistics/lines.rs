//! Lines of a rank about its objects, for a report of all ranks: bounded, whatever they tell.

/// Bytes of the lines of one rank at most.
const BYTES_MAX: usize = 1 << 20;
/// Line that stands for those that do not fit.
const CUT: &str = "... and more\n";

/// The lines that fit, and one that says so if these are not all.
pub(crate) fn cut(mut lines: String) -> String {
    if lines.len() > BYTES_MAX {
        let room = &lines.as_bytes()[..BYTES_MAX - CUT.len()];
        let end = room.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        lines.truncate(end);
        lines.push_str(CUT);
    }
    lines
}

/// Room for the lines of each rank, of which the longest are so long, as some rank has told.
pub(crate) fn room(longest: u64) -> usize {
    longest.clamp(1, BYTES_MAX as u64) as usize
}

#[cfg(test)]
mod tests;
