//! The documentation shows the table as it is.

use std::path::Path;
use weft_region::coherence::diagram;

#[test]
fn the_documentation_shows_the_rules() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/regions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mermaid = |text| format!("```mermaid\n{text}```\n");
    let parts = [
        mermaid(diagram::replica()),
        diagram::replica_rules(),
        mermaid(diagram::directory()),
        diagram::directory_rules(),
    ];
    for part in parts {
        assert!(
            page.contains(&part),
            "docs/internals/regions.md lacks, or has otherwise:\n\n{part}"
        );
    }
}
