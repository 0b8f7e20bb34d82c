//! Tables of a page.

use comfy_table::{Table, presets};

/// A table for a page.
pub fn markdown(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    table
}
