//! A visit to a page by a browser, and what all pages have to say: for tests of every crate that
//! makes pages.

use base64::Engine;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use weft_report::analysis::arrows::Arrow;
use weft_report::{Analysis, page};

const ACTIONS: &str = include_str!("actions.js");

/// Opens a page in a browser, has these actions done, and returns what they told.
pub fn visit(analysis: &Analysis, given: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let mut page = Vec::new();
    page::write(analysis, &mut page).unwrap();
    page.extend(format!("<script>const given = {given};\n{ACTIONS}</script>").into_bytes());
    fs::write(&file, page).unwrap();
    let dom = browse(&file, &folder.path().join("profile"));
    let told = dom.split_once("<pre id=\"told\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((told, _)) = told else { panic!("the page told nothing: {dom:.2000}") };
    let told = base64::engine::general_purpose::STANDARD.decode(told).unwrap();
    serde_json::from_slice(&told).unwrap()
}

/// The document as it is when its scripts have run. The browser ends by itself, or is ended.
fn browse(page: &Path, profile: &Path) -> String {
    let output = Command::new("timeout")
        .args(["--kill-after=5", "300", "chromium", "--headless=new", "--no-sandbox"])
        .args(["--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"])
        .args(["--window-size=1400,1000", "--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("`timeout` is everywhere");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "no chromium (`./setup test` installs it), or: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Packets that a page draws at once; of more it shows that they are there.
const MOST_DRAWN: usize = 3000;
/// Lanes to either side of a rank that a page shows with it, at least.
const LANES_AROUND: u32 = 4;

/// Packets all over the run, a dozen or so, between different ranks, which a page draws if it shows
/// them.
pub fn sample(analysis: &Analysis) -> Vec<Value> {
    let is_seen =
        |arrow: &&Arrow| arrow.packet.tag.is_data() && arrow.from != arrow.to && arrow.flight() > 0;
    let seen: Vec<&Arrow> = analysis.arrows.iter().filter(is_seen).collect();
    let step = seen.len().div_ceil(12).max(1);
    // A page shows those around each, twice its flight to either side.
    let are_drawn = |arrow: &&Arrow| {
        let margin = 2 * arrow.flight();
        let (from, to) = (arrow.left.saturating_sub(margin), arrow.arrived + margin);
        let is_near = |rank: u32| rank.abs_diff(arrow.from) <= LANES_AROUND;
        let in_sight = |other: &&Arrow| {
            let is_shown = is_near(other.from) || is_near(other.to);
            is_shown && other.left <= to && other.arrived >= from
        };
        analysis.arrows.iter().filter(in_sight).count() <= MOST_DRAWN
    };
    let given = seen.into_iter().step_by(step).filter(are_drawn).map(|arrow| {
        let Arrow { from, to, left, arrived, .. } = arrow;
        json!({"from": from, "to": to, "left": left, "arrived": arrived})
    });
    given.collect()
}

/// Sums in the page are those of the findings, which are the counters of the trace; its packets
/// join the ranks that they joined, and time goes forward.
pub fn compare_sums(analysis: &Analysis, told: &Value) {
    let findings = &analysis.findings;
    let (packets, bytes) = findings.traffic.data();
    let control = findings.traffic.control_packets();
    let cells = json!({"packets": packets, "bytes": bytes, "control": control});
    assert_eq!(told["cells"], cells);
    assert_eq!(told["sizes"], json!(packets));
    assert_eq!(told["ofSystems"], json!([packets, control]));
    let sum = |of: fn(&Arrow) -> u64| analysis.arrows.iter().map(of).sum::<u64>();
    let arrows = json!({
        "number": findings.matching.matched,
        "places": sum(|arrow| u64::from(arrow.from) * 65536 + u64::from(arrow.to)),
        "left": sum(|arrow| arrow.left),
        "arrived": sum(|arrow| arrow.arrived),
        "backward": 0,
        "isInOrder": true,
    });
    assert_eq!(told["allArrows"], arrows);
    let states: Vec<_> = analysis.lives.iter().map(|life| life.in_states()).collect();
    assert_eq!(told["states"], json!(states));
    let sample = sample(analysis);
    assert!(sample.len() > 5, "{sample:?}");
    for (arrow, hover) in sample.iter().zip(told["arrowHovers"].as_array().unwrap()) {
        let said = format!("Packet from rank {} to rank {}", arrow["from"], arrow["to"]);
        assert!(hover.as_str().unwrap().starts_with(&said), "{arrow}: {hover}");
    }
}
