//! Tests of the page, without a browser.

use super::*;
use weft_trace::{Builder, NamedThing, What};

fn page(analysis: &Analysis) -> String {
    let mut bytes = Vec::new();
    write(analysis, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn names_of_a_program_are_text_and_no_elements() {
    let trace = Builder::new("</title><b>&", 1)
        .named(0, NamedThing::Span, 1, "</script><script>alert(1)</script>")
        .event(0, 0, What::SpanBegins(1))
        .event(0, 9, What::SpanEnds(1))
        .trace();
    let page = page(&Analysis::new(&trace));
    assert!(page.contains("<title>&lt;/title&gt;&lt;b&gt;&amp; · Weft</title>"));
    assert!(!page.contains("alert(1)</script>"));
    assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"));
}

#[test]
fn it_needs_nothing_else() {
    let page = page(&Analysis::new(&Builder::new("x", 1).trace()));
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("{{"));
}
