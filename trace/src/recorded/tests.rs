//! Lines about traces.

use super::*;

#[test]
fn a_line_says_where_the_trace_is_and_what_is_not_in_it() {
    let file = PathBuf::from("ring.trace");
    let whole = Recorded { file, events: 12, ..Recorded::default() };
    let line = "12 events of this run are in ring.trace: `weft report ring.trace` shows them";
    assert_eq!(whole.to_string(), line);
    let lost = Recorded { lost: 3, error: Some("no space left on device".into()), ..whole };
    let rest = "; 3 more did not fit; the rest could not be written: no space left on device";
    assert_eq!(lost.to_string(), format!("{line}{rest}"));
    let parts = Recorded::in_parts(Path::new("ring.trace"), 3).to_string();
    assert!(parts.contains("ring.trace.0 to ring.trace.2"), "{parts}");
}
