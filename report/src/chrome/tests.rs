//! Traces in Chrome's format, read again.

use super::*;
use crate::slices::tests::short_run;

#[test]
fn slices_lie_in_one_another_and_flows_have_two_ends() {
    let mut bytes = Vec::new();
    write(&Analysis::new(&short_run()), &mut bytes).unwrap();
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let named =
        |name: &str| events.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
    assert_eq!(named("solve")[0]["dur"], 9.0);
    assert_eq!(named("waiting")[0]["args"]["for"], "a message");
    assert_eq!(named("computing").len(), 2);
    assert_eq!(named("packet is taken")[0]["args"]["bytes"], 8);
    let flows = named("packet");
    assert_eq!(flows.iter().map(|flow| &flow["ph"]).collect::<Vec<_>>(), ["s", "f"]);
    assert_eq!(flows[0]["id"], flows[1]["id"]);
    assert_eq!([&flows[0]["pid"], &flows[1]["pid"]], [0, 1]);
}
