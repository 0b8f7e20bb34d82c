//! Tests of pages in a browser: a reader's actions are done to a page of known findings, and what
//! it says is compared with them.

use crate::runs::neighbours;
use crate::visit::{compare_sums, sample, visit};
use serde_json::{Value, json};
use weft_report::analysis::arrows::Arrow;
use weft_report::analysis::slowest::Slow;
use weft_report::analysis::states::RankState;
use weft_report::{Analysis, units};
use weft_trace::Trace;

/// Round of which waits are searched for.
const ROUND: u32 = 17;

/// Everything that a test compares.
struct Reader {
    analysis: Analysis,
    wait: Slow,
    arrow: Arrow,
    told: Value,
}

impl Reader {
    fn of(trace: &Trace) -> Self {
        let analysis = Analysis::new(trace);
        let findings = &analysis.findings;
        let wait = findings.slowest_waits[3].clone();
        let is_it = |arrow: &&Arrow| arrow.packet.tag.is_data() && arrow.from + 1 == arrow.to;
        let arrow = analysis.arrows.iter().filter(is_it).nth(20).unwrap().clone();
        let given = json!({
            "acts": "all",
            "ranks": findings.ranks,
            "arrows": sample(&analysis),
            "wait": {
                "row": 3,
                "rank": wait.rank,
                // In its second half it sleeps.
                "middle": wait.begin_ns + (wait.end_ns - wait.begin_ns) / 2,
            },
            "query": format!("Row {ROUND} of rank"),
            "arrow": {
                "from": arrow.from, "to": arrow.to, "left": arrow.left, "arrived": arrow.arrived,
            },
            "pieces": pieces(&analysis).into_iter().map(|(rank, begin, end, _)| {
                json!({"rank": rank, "begin": begin, "end": end})
            }).collect::<Vec<_>>(),
            "cell": {"from": 1, "to": 2},
        });
        let told = visit(&analysis, &given);
        assert_eq!(told["errors"], json!([]));
        Reader { analysis, wait, arrow, told }
    }

    fn text(&self, name: &str) -> &str {
        self.told[name].as_str().unwrap_or_else(|| panic!("{name}: {}", self.told[name]))
    }

    /// Numbers that an element has, which are texts there.
    fn number(&self, element: &str, name: &str) -> f64 {
        self.told[element][name].as_str().unwrap().parse().unwrap()
    }

    fn length(&self, element: &str) -> f64 {
        self.number(element, "to") - self.number(element, "from")
    }
}

/// Pieces of every state at the first, a middle and the last rank: rank, begin, end, name.
fn pieces(analysis: &Analysis) -> Vec<(u32, u64, u64, &'static str)> {
    let names = ["computing", "waiting", "asleep", "handler", "lost"];
    let last = analysis.lives.len() - 1;
    let mut found = Vec::new();
    for rank in [0, last / 2, last] {
        let life = &analysis.lives[rank];
        for state in RankState::ALL {
            let within = life.within(life.begin, life.end);
            let of = within.filter(|(piece, _)| piece.state == state).take(3).last();
            found.extend(of.map(|(piece, time)| {
                (rank as u32, piece.start, piece.start + time, names[state as usize])
            }));
        }
    }
    found
}

fn compare(reader: &Reader) {
    compare_head(reader);
    compare_sums(&reader.analysis, &reader.told);
    compare_view(reader);
    compare_search(reader);
    compare_diagram(reader);
}

fn compare_head(reader: &Reader) {
    let findings = &reader.analysis.findings;
    let told = &reader.told;
    assert_eq!(told["verdict"], json!(findings.verdict));
    assert_eq!(told["rows"], findings.ranks);
    assert_eq!(told["waits"], findings.slowest_waits.len());
    let beside = [findings.handlers.len(), findings.orders.len(), findings.copies.len()];
    assert_eq!(told["beside"], json!(beside));
    assert!(reader.text("facts").contains(&units::time(findings.duration_ns)));
    assert!(reader.text("facts").contains(&units::count(findings.events, "event")));
    assert_eq!(told["isLostShown"], findings.lost_events > 0);
    let first = &findings.time[0];
    let busy = format!("computes {}", units::percent(first.computing_ns, first.total()));
    assert!(reader.text("firstRow").starts_with(&busy), "{}", reader.text("firstRow"));
    let (packets, bytes) = findings.traffic.data();
    let systems = reader.text("systems");
    assert!(systems.contains(&units::thousands(packets)), "{systems}");
    assert!(systems.contains(&units::bytes(bytes)), "{systems}");
    let matched = units::count(findings.matching.matched, "packet");
    assert!(reader.text("matching").starts_with(&matched), "{}", reader.text("matching"));
    let cell = findings.traffic.matrix.iter().find(|cell| (cell.from, cell.to) == (1, 2)).unwrap();
    let expected = format!(
        "Rank 1 to rank 2{}, {}{}",
        units::count(cell.data_packets, "data packet"),
        units::bytes(cell.data_bytes),
        units::count(cell.control_packets, "control packet")
    );
    assert_eq!(reader.text("cell"), expected);
    let computing = findings.utilization.computing[100];
    let said = reader.text("utilization");
    let digits = if computing < 9.995 {
        2
    } else if computing < 99.95 {
        1
    } else {
        0
    };
    assert!(said.contains(&format!("{computing:.digits$} computing")), "{said} {computing}");
}

/// Clicks, the wheel, and drags move the view.
fn compare_view(reader: &Reader) {
    let Reader { analysis, wait, told, .. } = reader;
    let whole = analysis.findings.duration_ns as f64;
    assert_eq!((reader.number("whole", "from"), reader.number("whole", "to")), (0.0, whole));
    assert!(reader.number("afterClick", "from") <= wait.begin_ns as f64);
    assert!(reader.number("afterClick", "to") >= wait.end_ns as f64);
    assert!(reader.length("afterClick") < whole / 2.0);
    let hover = reader.text("waitHover");
    assert!(hover.contains(&format!("Rank {}", wait.rank)), "{hover}");
    assert!(hover.contains(wait.text.as_deref().unwrap()), "{hover}");
    assert!(hover.contains(&format!("ended by a packet from rank {}", wait.ended_by.unwrap())));
    let factor = reader.length("afterZoom") / reader.length("afterClick");
    assert!((factor - (-0.6f64).exp()).abs() < 1e-6, "{factor}");
    let under = |when: &str| told[when].as_f64().unwrap();
    assert!((under("underBefore") - under("underAfter")).abs() < 1.0);
    let moved = reader.number("afterZoom", "from") - reader.number("afterDrag", "from");
    let expected = told["dragged"].as_f64().unwrap() * reader.length("afterZoom");
    assert!((moved - expected).abs() < 1.0, "{moved} {expected}");
    assert_eq!(
        (reader.number("afterReset", "from"), reader.number("afterReset", "to")),
        (0.0, whole)
    );
}

fn compare_search(reader: &Reader) {
    let lives = &reader.analysis.lives;
    let wanted = format!("row {ROUND} of rank");
    let names = &reader.analysis.names;
    let waits = lives.iter().flat_map(|life| &life.waits);
    let is_it = |text| names.text(text).is_some_and(|text| text.contains(&wanted));
    let found: Vec<_> = waits.filter(|wait| is_it(wait.text)).collect();
    let number = units::thousands(found.len() as u64);
    assert_eq!(reader.text("found"), number);
    assert_eq!(reader.text("firstFound"), format!("1 of {number}"));
    let first = found.iter().map(|wait| wait.begin).min().unwrap() as f64;
    assert!(reader.number("afterFind", "from") <= first);
    assert!(reader.number("afterFind", "to") >= first);
    let lane = &reader.told["lastLane"];
    let (y, height) = (lane["y"].as_f64().unwrap(), lane["height"].as_f64().unwrap());
    assert!((0.0..=height).contains(&y), "{lane}");
}

/// Packets and colours are where they belong.
fn compare_diagram(reader: &Reader) {
    let Reader { analysis, arrow, told, .. } = reader;
    let (from, to) = (reader.number("arrowsView", "from"), reader.number("arrowsView", "to"));
    let first = told["arrowsView"]["first"].as_f64().unwrap() - 1.0;
    let last = first + 1.0 + told["arrowsView"]["lanes"].as_f64().unwrap();
    let is_shown = |rank: u32| (first..=last).contains(&f64::from(rank));
    let drawn = analysis.arrows.iter().filter(|arrow| {
        let is_in_time = arrow.left as f64 <= to && arrow.arrived as f64 >= from;
        let is_in_sight = is_shown(arrow.from) || is_shown(arrow.to);
        arrow.packet.tag.is_data() && is_in_time && is_in_sight
    });
    let note = format!("· {} in sight", units::count(drawn.count() as u64, "packet"));
    assert_eq!(reader.text("arrowsNote"), note);
    let hover = reader.text("arrowHover");
    let said = format!("Packet from rank {} to rank {}", arrow.from, arrow.to);
    assert!(hover.starts_with(&said), "{hover}");
    assert!(hover.contains(&format!("taken {} later", units::time(arrow.flight()))), "{hover}");
    assert!(hover.contains("data of messages, 1.00 KiB"), "{hover}");
    let states: Vec<_> = pieces(analysis).into_iter().map(|(.., name)| name).collect();
    assert_eq!(told["colours"], json!(states));
}

#[test]
fn a_page_of_four_ranks_says_what_was_found() {
    compare(&Reader::of(&neighbours(4, 30)));
}

#[test]
fn a_page_of_64_ranks_says_what_was_found() {
    compare(&Reader::of(&neighbours(64, 40)));
}

#[test]
fn a_page_of_1024_ranks_and_600_000_events_says_what_was_found() {
    compare(&Reader::of(&neighbours(1024, 30)));
}

#[test]
fn lost_events_are_said() {
    let mut trace = neighbours(4, 30);
    let middle = trace.ranks[3].events.len() / 2;
    trace.ranks[3].lost = 1234;
    trace.ranks[3].gaps.insert(middle);
    let reader = Reader::of(&trace);
    assert!(reader.text("lost").starts_with("1,234 events lost"));
    compare(&reader);
}
