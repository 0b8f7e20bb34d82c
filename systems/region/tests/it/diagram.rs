//! The documentation draws the table as it is.

use std::path::Path;
use weft_region::coherence::diagram;

#[test]
fn the_documentation_shows_the_rules() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/regions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mermaid = |text| format!("```mermaid\n{text}```\n");
    for part in [mermaid(diagram::replica()), mermaid(diagram::directory())] {
        assert!(
            page.contains(&part),
            "docs/internals/regions.md lacks, or has otherwise:\n\n{part}"
        );
    }
}
