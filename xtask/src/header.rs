//! `weft.h`, made from the exported functions of `bindings/c`.

use anyhow::{Context, Result};
use cbindgen::{Builder, Config};
use std::fs;
use std::path::Path;

/// The modules whose functions C calls, in the order of the header.
const EXPORTED: [&str; 10] = [
    "status",
    "job",
    "packet",
    "port",
    "message",
    "call",
    "order",
    "collective",
    "region",
    "place",
];
const FOLDER: &str = "bindings/c";
const HEADER: &str = "bindings/c/include/weft.h";

/// Writes `weft.h`.
///
/// # Errors
/// What is exported is nothing that C knows, or a file cannot be read or written.
pub fn write(root: &Path) -> Result<()> {
    let path = root.join(HEADER);
    fs::write(&path, generate(root)?).with_context(|| format!("cannot write {}", path.display()))
}

fn generate(root: &Path) -> Result<String> {
    let folder = root.join(FOLDER);
    let config = Config::from_file(folder.join("cbindgen.toml"))
        .map_err(anyhow::Error::msg)
        .context("cannot read cbindgen.toml")?;
    let mut builder = Builder::new().with_config(config);
    for module in EXPORTED {
        builder = builder.with_src(folder.join("src").join(module).with_extension("rs"));
    }
    let mut text = vec![];
    builder.generate().context("weft.h cannot be made")?.write(&mut text);
    // C has no scopes for the names of statuses: WEFT_OK says enough. And a star is the name's.
    let scopes = ["WEFT_STATUS_", "WEFT_TYPE_", "WEFT_OPERATION_"];
    let text = String::from_utf8(text)?.replace(" * ", " *");
    Ok(scopes.iter().fold(text, |text, scope| text.replace(scope, "WEFT_")))
}

#[cfg(test)]
mod tests;
