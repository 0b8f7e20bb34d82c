//! What the papers' questions come to on the machine that runs `make paper`: real links, real time.
//!
//! Nothing here can be repeated exactly, so it stands at the end of a page, behind [`HEADING`], and no
//! row of the targets counts as measured by it. What the machine does not permit is said there instead.

mod pupa;
mod sender;
pub mod steps;

use crate::targets::Paper;

/// What is behind it is measured here and now.
pub const HEADING: &str = "\n## Today, on the machine that measured\n";

/// The sections, and the pages that they end.
pub fn sections() -> Vec<(Paper, String)> {
    [(Paper::Sender, sender::section()), (Paper::Pupa, pupa::section())]
        .into_iter()
        .map(|(paper, section)| (paper, format!("{HEADING}\n{section}")))
        .collect()
}
