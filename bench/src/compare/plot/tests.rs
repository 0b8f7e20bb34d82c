use super::*;
use crate::compare::figures::Figures;

fn outcome(name: &'static str, latency: Option<f64>) -> Outcome {
    let mut figures = Figures::default();
    let turns = latency.map(|latency| {
        figures.set(What::Latency, latency);
        vec![figures]
    });
    let turns = turns.ok_or_else(|| "missing".to_owned());
    Outcome { name, title: name, settings: String::new(), turns }
}

#[test]
fn bars_are_as_long_as_figures_and_who_is_missing_has_none() {
    let here = vec![outcome("weft", Some(500.0)), outcome("b", Some(1000.0)), outcome("c", None)];
    let svg = svg(&[("Here & there", here)]);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">Here &amp; there</text>"));
    let bars: Vec<&str> = svg.lines().filter(|line| line.starts_with("<rect x=")).collect();
    assert_eq!(bars.len(), 2, "{bars:?}");
    assert!(bars[0].contains("width=\"150\"") && bars[0].contains(WEFT), "{}", bars[0]);
    assert!(bars[1].contains("width=\"300\"") && bars[1].contains(OTHERS), "{}", bars[1]);
    assert!(svg.contains(">1.00 us</text>") && !svg.contains(">c</text>"));
}

#[test]
fn nothing_measured_is_an_empty_drawing() {
    assert!(svg(&[("Here", vec![outcome("weft", None)])]).ends_with("</svg>\n"));
}

#[test]
fn one_peer_does_not_make_all_others_look_alike() {
    let far = [("weft", 100.0), ("b", 200.0), ("c", 10_000.0)];
    let here = far.map(|(name, latency)| outcome(name, Some(latency))).into();
    let svg = svg(&[("Here", here)]);
    let lengths = ["width=\"37.5\"", "width=\"75\"", "width=\"300\""];
    for (bar, length) in svg.lines().filter(|line| line.starts_with("<rect x=")).zip(lengths) {
        assert!(bar.contains(length), "{length} is not in {bar}");
    }
    assert!(svg.contains(">» 10.00 us</text>"), "{svg}");
}
