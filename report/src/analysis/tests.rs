//! Tests of the analysis as a whole.

pub mod traces;

use super::*;
use crate::{chrome, page, text};
use proptest::prelude::*;
use traces::any_trace;
use weft_trace::Builder;

#[test]
fn a_trace_of_nothing_has_a_report() {
    for ranks in [0, 1] {
        let analysis = Analysis::new(&Builder::new("nothing", ranks).trace());
        assert_eq!(analysis.findings.duration_ns, 0);
        page::write(&analysis, &mut Vec::new()).unwrap();
        assert!(text::text(&analysis.findings).contains("nothing"));
    }
}

#[test]
fn names_of_findings_stay() {
    let trace = Builder::new("ring", 2).packet((0, 1), (1, 5), 8).trace();
    let json = serde_json::to_value(Analysis::new(&trace).findings).unwrap();
    let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names.join(" "),
        "balance blame clocks copies critical_path duration_ns events handlers is_cut is_simulated \
         lost_events matching options orders program ranks sampled slowest_waits spans time traffic \
         utilization verdict wait_kinds"
    );
    assert_eq!(json["matching"]["matched"], 1);
    assert_eq!(json["traffic"]["matrix"][0]["data_bytes"], 8);
}

proptest! {
    #[test]
    fn any_trace_has_a_report(trace in any_trace()) {
        let analysis = Analysis::new(&trace);
        page::write(&analysis, &mut Vec::new()).unwrap();
        chrome::write(&analysis, &mut Vec::new()).unwrap();
        let text = text::text(&analysis.findings);
        prop_assert!(text.lines().count() <= 60, "{text}");
        serde_json::to_string(&analysis.findings).unwrap();
    }

    #[test]
    fn time_goes_forward(trace in any_trace()) {
        let analysis = Analysis::new(&trace);
        for arrow in &analysis.arrows {
            prop_assert!(arrow.left <= arrow.arrived && arrow.arrived <= analysis.findings.duration_ns);
        }
        for life in &analysis.lives {
            prop_assert!(life.begin <= life.end && life.end <= analysis.findings.duration_ns);
        }
    }

    #[test]
    fn whatever_is_read_has_a_report(bytes: Vec<u8>, words: Vec<[u64; 5]>) {
        let run = weft_trace::Run { hosts: vec!["a".into(), "b".into()], ..Default::default() };
        let mut writer = weft_trace::Writer::new(Vec::new(), &run).unwrap();
        let events = words.iter().map(|words| {
            // A kind that there is, of a tag that there is, or a text.
            let kind = (words[1] % 13) | (1 << 8) | (words[1] & 0xffff_ffff_0f0f_0000);
            [words[0], kind, words[2] % 5, words[3], words[4]]
        });
        let events: Vec<_> = events.collect();
        writer.append(weft_wire::Rank(1), words.len() as u64 / 7, &events).unwrap();
        let mut file = writer.finish().unwrap();
        file.extend(bytes);
        if let Ok(trace) = weft_trace::Trace::read(&*file) {
            page::write(&Analysis::new(&trace), &mut Vec::new()).unwrap();
        }
    }
}
