use super::{HEADER, generate};

#[test]
fn the_header_is_what_the_sources_say() {
    let root = crate::root().unwrap();
    let written = std::fs::read_to_string(root.join(HEADER)).unwrap();
    let stale = "weft.h is stale; 'cargo run -p xtask -- header' writes it again";
    assert!(written == generate(&root).unwrap(), "{stale}");
}

#[test]
fn no_type_of_rust_is_in_the_header() {
    let text = generate(&crate::root().unwrap()).unwrap();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    for word in code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')) {
        let first = word.chars().next().unwrap_or('_');
        let of_c = !first.is_uppercase() || word.starts_with("WEFT_") || word == "C";
        assert!(of_c, "'{word}' has no name in cbindgen.toml");
    }
}
