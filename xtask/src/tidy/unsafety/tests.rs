use super::super::tests::found;
use super::*;

const MANIFEST: (&str, &str) = ("node/Cargo.toml", "[package]\nname = \"node\"\n");
const LIST: (&str, &str) = (
    "ARCHITECTURE.md",
    "# A\n## Modules that may use `unsafe`\n\nWhy.\n\n```text\nshm/src/memory.rs\n```\n## B\n```\nno\n```\n",
);

#[test]
fn the_list_is_the_block_under_the_heading() {
    assert_eq!(listed_modules(LIST.1), Some(vec!["shm/src/memory.rs".to_owned()]));
    assert_eq!(listed_modules("## Modules that may use `unsafe`\n## B\n```\na.rs\n```"), None);
    assert_eq!(listed_modules("# Other\n```\na.rs\n```"), None);
    assert_eq!(listed_modules("# Modules that may use `unsafe`\n```\n```"), Some(vec![]));
}

#[test]
fn without_the_list_nothing_is_allowed_and_that_is_said() {
    let found_without = |page: &str| {
        let files = [("ARCHITECTURE.md", page), ("a.rs", "unsafe {}")];
        found(&files[usize::from(page.is_empty())..], check)
    };
    assert!(found_without("")[0].starts_with("ARCHITECTURE.md:1: the page is missing"));
    assert!(found_without("# A\n")[0].starts_with("ARCHITECTURE.md:1: the list is missing"));
    assert_eq!(found_without("# A\n").len(), 2);
}

#[test]
fn unsafe_outside_the_list_is_found() {
    let source = "// unsafe\nfn f() {\n    let s = \"unsafe\";\n    unsafe { g() }\n}\n";
    let findings = found(&[LIST, ("node/src/a.rs", source)], check);
    let expected = "node/src/a.rs:4: unsafe in a module that ARCHITECTURE.md does not list";
    assert_eq!(findings, [expected]);
}

#[test]
fn words_that_only_contain_it_are_not_found() {
    let source =
        "#![deny(unsafe_op_in_unsafe_fn, unsafe_code)]\n/* unsafe */\nfn not_unsafe() {}\n";
    assert_eq!(found(&[LIST, ("node/src/a.rs", source)], check), [""; 0]);
}

#[test]
fn an_unsafe_attribute_and_an_unsafe_trait_are_found() {
    let source = "#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}\nunsafe impl Send for A {}\n";
    assert_eq!(found(&[LIST, ("node/src/a.rs", source)], check).len(), 2);
}

#[test]
fn only_functions_of_our_name_are_exported_to_c() {
    let export = |name: &str| format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() {{}}\n");
    assert_eq!(found(&[LIST, ("node/src/a.rs", &export("weft_f"))], check), [""; 0]);
    assert_eq!(found(&[LIST, ("node/src/a.rs", &export("malloc"))], check).len(), 1);
    let hidden = format!("#[unsafe(no_mangle)]\nstatic A: u8 = 0;\n{}", export("weft_f"));
    assert_eq!(found(&[LIST, ("node/src/a.rs", &hidden)], check).len(), 1);
}

#[test]
fn a_listed_module_covers_what_is_inside_it() {
    let source = "unsafe {}";
    for path in ["shm/src/memory.rs", "shm/src/memory/tests.rs"] {
        assert_eq!(found(&[LIST, (path, source)], check), [""; 0], "{path}");
    }
    for path in ["shm/src/memory_map.rs", "shm/src/lib.rs", "other/shm/src/memory.rs"] {
        assert_eq!(found(&[LIST, (path, source)], check).len(), 1, "{path}");
    }
    assert!(contains("a/src/b/mod.rs", "a/src/b/c.rs"));
}

#[test]
fn every_root_of_a_crate_without_a_listed_module_forbids_it() {
    let forbids = "//! A.\n#![forbid(unsafe_code)]\n";
    let roots = ["node/src/lib.rs", "node/src/main.rs", "node/src/bin/tool.rs"];
    for root in roots {
        assert_eq!(found(&[LIST, MANIFEST, (root, forbids)], check), [""; 0]);
        let expected = format!("{root}:1: #![forbid(unsafe_code)] is missing");
        assert_eq!(
            found(&[LIST, MANIFEST, (root, "// #![forbid(unsafe_code)]\n")], check),
            [expected]
        );
    }
    assert_eq!(found(&[LIST, MANIFEST, ("node/src/bin/tool/part.rs", "")], check), [""; 0]);
}

#[test]
fn a_crate_with_a_listed_module_cannot_forbid_it() {
    let manifest = "[package]\nname = \"a\"\n";
    let outer = [LIST, ("shm/Cargo.toml", manifest), ("shm/src/lib.rs", "")];
    assert_eq!(found(&outer, check), [""; 0]);
    // The list names a module of the outer crate, not of the one inside.
    let inner = [
        LIST,
        ("shm/Cargo.toml", manifest),
        ("shm/in/Cargo.toml", manifest),
        ("shm/in/src/lib.rs", ""),
    ];
    assert_eq!(found(&inner, check), ["shm/in/src/lib.rs:1: #![forbid(unsafe_code)] is missing"]);
}

#[test]
fn a_listed_module_has_unsafe_code_in_it_or_inside_it() {
    let expected = ["ARCHITECTURE.md:7: there is no unsafe code in shm/src/memory.rs"];
    assert_eq!(found(&[LIST], check_list), expected);
    for (path, source) in [("shm/src/memory.rs", "// unsafe\n"), ("shm/src/other.rs", "unsafe {}")]
    {
        assert_eq!(found(&[LIST, (path, source)], check_list), expected, "{path}");
    }
    for path in ["shm/src/memory.rs", "shm/src/memory/map.rs"] {
        assert_eq!(found(&[LIST, (path, "unsafe {}")], check_list), [""; 0], "{path}");
    }
}
