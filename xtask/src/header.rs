//! `weft.h`, `weft-objects.h` and `weft-sim.h`, made from the exported functions of `bindings/c`.

use anyhow::{Context, Result};
use cbindgen::{Builder, Config};
use std::fs;
use std::path::Path;

/// A header, and the modules whose functions it declares, in its order.
struct Header {
    path: &'static str,
    modules: &'static [&'static str],
    /// Differences from cbindgen.toml, if there are any.
    beside: Option<Beside>,
}

/// Beginning of a header that stands on `weft.h`.
struct Beside {
    text: &'static str,
    guard: &'static str,
    /// Types that no function names.
    types: &'static [&'static str],
}

const FOLDER: &str = "bindings/c";

const HEADERS: [Header; 3] = [
    Header {
        path: "bindings/c/include/weft.h",
        modules: &[
            "status",
            "job",
            "statistics",
            "losses",
            "atomic",
            "packet",
            "structures",
            "port",
            "message",
            "call",
            "order",
            "collective",
            "collective/growing",
            "collective/lasting",
            "collective/counter",
            "collective/varied",
            "collective/scan",
            "collective/records",
            "collective/pending",
            "region",
            "place",
        ],
        beside: None,
    },
    Header {
        path: "bindings/c/include/weft-objects.h",
        modules: &["object_type", "object_process", "object", "structures", "space"],
        beside: Some(Beside {
            text: OBJECTS,
            guard: "WEFT_OBJECTS_H",
            types: &["Outcome", "ObjectOperation", "ObjectType", "ProcessType", "FieldKind"],
        }),
    },
    Header {
        path: "bindings/c/include/weft-sim.h",
        modules: &["simulation"],
        beside: Some(Beside { text: SIMULATION, guard: "WEFT_SIM_H", types: &[] }),
    },
];

const OBJECTS: &str = "\
// Shared objects (thesis 7.1) and Linda for C programs. Made from bindings/c/src by
// `cargo run -p xtask -- header`. What weft.h says of functions and pointers holds here too; the pages
// weft_object(3) and weft_space(3) have more.";

const SIMULATION: &str = "\
// C programs on simulated ranks. Made from bindings/c/src by `cargo run -p xtask -- header`. What
// weft.h says of functions and pointers holds here too; the page weft_simulate(3) has more.";

/// Writes all headers.
///
/// # Errors
/// What is exported is nothing that C knows, or a file cannot be read or written.
pub fn write(root: &Path) -> Result<()> {
    HEADERS.iter().try_for_each(|header| {
        let path = root.join(header.path);
        let text = generate(root, header)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    })
}

fn generate(root: &Path, header: &Header) -> Result<String> {
    let folder = root.join(FOLDER);
    let mut config = Config::from_file(folder.join("cbindgen.toml"))
        .map_err(anyhow::Error::msg)
        .context("cannot read cbindgen.toml")?;
    if let Some(Beside { text, guard, types }) = &header.beside {
        config.header = Some((*text).into());
        config.include_guard = Some((*guard).into());
        config.sys_includes = vec![];
        config.includes = vec!["weft.h".into()];
        config.export.include = types.iter().map(|&name| name.into()).collect();
    }
    let mut builder = Builder::new().with_config(config);
    for module in header.modules {
        builder = builder.with_src(folder.join("src").join(module).with_extension("rs"));
    }
    let mut text = vec![];
    let made = builder.generate().with_context(|| format!("{} cannot be made", header.path))?;
    made.write(&mut text);
    // C has no scopes for the names of statuses: WEFT_OK says enough. And a star is the name's.
    let scopes = ["WEFT_STATUS_", "WEFT_TYPE_", "WEFT_OPERATION_"];
    let text =
        String::from_utf8(text)?.replace(" * ", " *").replace("WEFT_FIELD_KIND_", "WEFT_FIELD_");
    Ok(scopes.iter().fold(text, |text, scope| text.replace(scope, "WEFT_")))
}

#[cfg(test)]
mod tests;
