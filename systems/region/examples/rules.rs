//! Draws the rules as `docs/internals/regions.md` shows them, to be put there when they change.

use weft_region::coherence::diagram;

fn main() {
    for diagram in [diagram::replica(), diagram::directory()] {
        println!("```mermaid\n{diagram}```\n");
    }
}
