//! Sections of a page that are measured apart from the rest of it.

/// Section before which one goes that a page does not have yet.
const BEFORE: &str = "\n## Row by row\n";
/// Beginning of a section.
const BEGIN: &str = "\n## ";

/// A page with a section in place of the one with its heading, which is its first line.
pub fn put(page: &str, section: &str) -> String {
    let heading = section.lines().next().unwrap_or_default();
    let (from, to) = place(page, heading).unwrap_or_else(|| {
        let before = page.find(BEFORE).map_or(page.len(), |place| place + 1);
        (before, before)
    });
    let (front, rest) = (&page[..from], &page[to..]);
    let gap = if rest.is_empty() { "" } else { "\n" };
    format!("{front}{}\n{gap}{rest}", section.trim_end())
}

/// A page with the sections of an old one that have these headings.
pub fn keep(page: &str, old: &str, headings: &[&str]) -> String {
    headings.iter().fold(page.to_owned(), |page, heading| match place(old, heading) {
        Some((from, to)) => put(&page, &old[from..to]),
        None => page,
    })
}

/// Bytes of the section with this heading.
fn place(page: &str, heading: &str) -> Option<(usize, usize)> {
    let from = page.find(&format!("\n{heading}\n"))? + 1;
    let to = page[from..].find(BEGIN).map_or(page.len(), |length| from + length + 1);
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::{keep, put};

    const PAGE: &str = "# A\n\n## B\n\nb\n\n## Row by row\n\nr\n";

    #[test]
    fn a_section_is_put_once_and_replaced_then() {
        let once = put(PAGE, "## C\n\nc\n\n### D\n\nd\n");
        let with = |c: &str| format!("# A\n\n## B\n\nb\n\n## C\n\n{c}\n\n## Row by row\n\nr\n");
        assert_eq!(once, with("c\n\n### D\n\nd"));
        assert_eq!(put(&once, "## C\n\nelse\n"), with("else"));
    }

    #[test]
    fn sections_of_an_old_page_are_kept() {
        let old = put(PAGE, "## C\n\nc\n");
        assert_eq!(keep(PAGE, &old, &["## C", "## X"]), old);
    }

    #[test]
    fn the_last_section_ends_the_page() {
        assert_eq!(put("# A\n", "## C\n\nc\n"), "# A\n## C\n\nc\n");
        assert_eq!(put("# A\n\n## C\n\nc\n", "## C\n\ne\n"), "# A\n\n## C\n\ne\n");
    }
}
