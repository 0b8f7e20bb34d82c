use super::*;

#[test]
fn a_version_is_found_in_what_releases_say() {
    let says = [
        ("OpenPMIx 4.2.2, repo rev: v4.2.2 (PMIx Standard: 4.1)", Some("4.2.2")),
        ("PMIx 3.1.5rc1", Some("3.1.5")),
        ("5", Some("5")),
        ("nothing", None),
        ("", None),
    ];
    for (text, number) in says {
        assert_eq!(version_number(text), number, "{text}");
    }
}

#[test]
fn text_for_c_ends_where_c_ends_it() {
    assert_eq!(c_string("one\0two").as_c_str(), c"one");
    assert_eq!(c_string("").as_c_str(), c"");
}
