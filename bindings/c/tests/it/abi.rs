//! The ABI on which programs count that are linked with libweft already: `bindings/c/abi.txt` lists
//! symbols, declarations, and the sizes and places of all that headers lay out.

use crate::pages::declared;
use object::{Object as _, ObjectSymbol as _};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use weft_golden::{Entries, hold};

const ADVICE: &str = "if anything was changed or is gone, programs that are linked with libweft.so.0 would break: \
     leave it as it was and add something beside it, or make the library libweft.so.1 (build.rs here, Makefile, \
     packaging). What is only new is an addition";

const HEADERS: [&str; 4] = ["weft.h", "weft-objects.h", "weft-sim.h", "weft-game.h"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The headers without comments and without what is for the preprocessor, a space for each blank.
fn code() -> String {
    let texts = HEADERS.map(|name| fs::read_to_string(here().join("include").join(name)).unwrap());
    let mut code = String::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let line = line.split("//").next().unwrap().trim();
        if !line.starts_with('#') && !line.starts_with("/*") && !line.starts_with('*') {
            code.push_str(line);
            code.push(' ');
        }
    }
    code
}

/// Numbers that headers define.
fn defined() -> Vec<String> {
    let texts = HEADERS.map(|name| fs::read_to_string(here().join("include").join(name)).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    let words = lines.filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    words.map(|(name, _)| name.to_owned()).collect()
}

/// Blocks that begin with `open`: what is inside the braces, and what is between them and the
/// semicolon.
fn blocks<'a>(code: &'a str, open: &str) -> Vec<(&'a str, &'a str)> {
    let ends = code.split(open).skip(1).filter_map(|rest| {
        let (inside, behind) = rest.split_once('}')?;
        Some((inside.trim(), behind.split(';').next()?.trim()))
    });
    ends.collect()
}

/// The name that a declaration gives.
fn name_of(declaration: &str) -> &str {
    match declaration.split_once("(*") {
        Some((_, rest)) => rest.split(')').next().unwrap(),
        None => declaration.split('[').next().unwrap().trim().rsplit([' ', '*']).next().unwrap(),
    }
}

/// A C program that says how everything lies in memory, a line each.
fn program(code: &str) -> String {
    let mut lines = String::new();
    let mut add = |line: String| writeln!(lines, "    {line}").unwrap();
    let mut structures = blocks(code, "typedef struct {");
    structures.extend(
        blocks(code, "struct weft_game {").iter().map(|(inside, _)| (*inside, "struct weft_game")),
    );
    for (inside, name) in structures {
        add(format!(r#"printf("{name}: %zu bytes\n", sizeof({name}));"#));
        for field in inside.split(';').map(str::trim).filter(|field| !field.is_empty()) {
            let (field_name, field) = (name_of(field), field.replace('"', ""));
            add(format!(
                r#"printf("{name}.{field_name}: %zu, {field}\n", offsetof({name}, {field_name}));"#
            ));
        }
    }
    for (inside, name) in blocks(code, "typedef enum {") {
        add(format!(r#"printf("{name}: %zu bytes\n", sizeof({name}));"#));
        for constant in inside.split(',').map(str::trim).filter(|constant| !constant.is_empty()) {
            let constant = constant.split(' ').next().unwrap();
            add(format!(r#"printf("{constant}: %lld\n", (long long){constant});"#));
        }
    }
    for constant in defined() {
        add(format!(r#"printf("{constant}: %lld\n", (long long){constant});"#));
    }
    let includes: String = HEADERS.iter().map(|name| format!("#include <{name}>\n")).collect();
    format!(
        "#include <stddef.h>\n#include <stdio.h>\n{includes}\nint main(void)\n{{\n{lines}    return 0;\n}}\n"
    )
}

/// Sizes, places and numbers, as the compiler has them.
fn layouts(code: &str) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("layouts.c"), folder.path().join("layouts"));
    fs::write(&source, program(code)).unwrap();
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(here().join("include")).arg(&source).arg("-o").arg(&binary);
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
    let entries = said.lines().map(|line| line.split_once(": ").unwrap());
    entries.map(|(name, entry)| (name.to_owned(), entry.to_owned())).collect()
}

/// Functions that the shared library exports.
fn exported() -> Vec<String> {
    let test = std::env::current_exe().unwrap();
    let library = test.ancestors().nth(2).unwrap().join("libweft.so");
    let bytes = fs::read(&library).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbols =
        file.dynamic_symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    symbols.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

#[test]
fn symbols_declarations_and_layouts_are_those_of_the_library_before() {
    let code = code();
    let mut now = Entries::new();
    let mut add = |name: String, entry: String| {
        assert_eq!(now.insert(name.clone(), entry), None, "{name} is there twice");
    };
    exported().into_iter().for_each(|name| add(format!("symbol {name}"), "exported".into()));
    declared().into_iter().for_each(|(name, text)| add(format!("{name}()"), text));
    let is_laid_out = |text: &&str| text.starts_with("struct") || text.starts_with("enum");
    for text in code.split("typedef ").skip(1).filter(|text| !is_laid_out(text)) {
        let text = text.split(';').next().unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        add(format!("typedef {}", name_of(&text)), text);
    }
    layouts(&code).into_iter().for_each(|(name, entry)| add(name, entry));
    hold(&here().join("abi.txt"), &now, ADVICE);
}

#[test]
fn what_is_declared_is_exported() {
    let exported = exported();
    for name in declared().keys() {
        assert!(exported.contains(name), "{name} is in a header and not in libweft.so");
    }
}
