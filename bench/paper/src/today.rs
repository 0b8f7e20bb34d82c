//! Answers to the papers' questions on the machine that runs `make paper`: real links, real time.
//!
//! Nothing here can be repeated exactly, so it stands at the end of a page, behind [`HEADING`], and
//! no row of the targets counts as measured by it; what may count is an experiment that runs alone.
//! What the machine does not permit is said there instead.

pub mod applications;
mod bench;
mod careful;
mod pupa;
mod sender;
pub mod steps;
mod table;
mod thesis;
pub mod zero_copy;

use crate::targets::Paper;

/// Heading behind which all is measured here and now.
pub const HEADING: &str = "\n## Today, on the machine that measured\n";

/// Generator of each page's section.
const SECTIONS: [(Paper, fn() -> String); 4] = [
    (Paper::Thesis, thesis::section),
    (Paper::Careful, careful::section),
    (Paper::Sender, sender::section),
    (Paper::Pupa, pupa::section),
];

/// The sections of these papers, each the end of its page.
pub fn sections(papers: &[Paper]) -> Vec<(Paper, String)> {
    let mut sections = Vec::new();
    for (paper, section) in SECTIONS.into_iter().filter(|(paper, _)| papers.contains(paper)) {
        eprintln!("weft-paper: today, on this machine: {paper} ...");
        sections.push((paper, format!("{HEADING}\n{}", section())));
    }
    sections
}
