use super::{HEADERS, generate};

#[test]
fn the_headers_are_what_the_sources_say() {
    let root = crate::root().unwrap();
    for header in &HEADERS {
        let written = std::fs::read_to_string(root.join(header.path)).unwrap();
        let stale = "is stale; 'cargo run -p xtask -- header' writes it again";
        assert!(written == generate(&root, header).unwrap(), "{} {stale}", header.path);
    }
}

#[test]
fn no_type_of_rust_is_in_a_header() {
    let root = crate::root().unwrap();
    let text = HEADERS.map(|header| generate(&root, &header).unwrap()).join("\n");
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    for word in code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')) {
        let first = word.chars().next().unwrap_or('_');
        let of_c = !first.is_uppercase()
            || word.starts_with("WEFT_")
            || ["C", "UINT32_MAX"].contains(&word);
        assert!(of_c, "'{word}' has no name in cbindgen.toml");
    }
}
