use super::*;
use crate::compare::figures::Figures;
use serde_json::Value;

fn outcome(name: &'static str, turns: Result<&[f64], &str>) -> Outcome {
    let figures = |&latency: &f64| {
        let said = format!("latency {latency} 4000\nrate 2000000 500\nbandwidth 1e9 2097152\n");
        Figures::of_pair(&said).unwrap()
    };
    let turns = turns.map(|turns| turns.iter().map(figures).collect()).map_err(str::to_owned);
    Outcome { name, title: name, settings: format!("how {name} runs"), turns }
}

#[test]
fn a_line_of_json_is_one_figure_with_its_ratio() {
    let outcomes = [
        outcome("weft", Ok(&[500.0, 400.0, 450.0])),
        outcome("other", Ok(&[900.0])),
        outcome("third", Err("no third here")),
    ];
    let lines = json("host", &outcomes).unwrap();
    let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7, "three figures of two, and who is missing");
    let first = &lines[0];
    assert_eq!((&first["place"], &first["peer"]), (&"host".into(), &"weft".into()));
    assert_eq!((&first["figure"], &first["size"]), (&"latency".into(), &8.into()));
    assert_eq!((&first["unit"], &first["p50"]), (&"ns".into(), &450.0.into()));
    assert_eq!(first["turns"], serde_json::json!([500.0, 400.0, 450.0]));
    assert_eq!(first["processor_ns_per_message"], 4000.0);
    assert_eq!(lines[2]["processor_ns_per_megabyte"], 2e6, "of a message of 1 MiB, 2,097,152");
    assert_eq!(lines[3]["weft_ratio"], 0.5);
    assert_eq!(lines[5]["unit"], "bytes_per_second");
    assert_eq!(
        (&lines[6]["peer"], &lines[6]["missing"]),
        (&"third".into(), &"no third here".into())
    );
    assert_eq!(lines[6].get("p50"), None);
}

#[test]
fn the_table_has_ratios_and_says_who_is_missing_and_how_all_ran() {
    let outcomes = [
        outcome("weft", Ok(&[450.0])),
        outcome("other", Ok(&[900.0])),
        outcome("third", Err("no third here")),
    ];
    let text = text("Here", &outcomes);
    assert!(text.starts_with("Here; in brackets"), "{text}");
    for part in [
        "900 ns (0.50 x)",
        "2.0 M/s (1.00 x)",
        "4.00 / 0.50 / 2000.00 us",
        "\nthird: not measured: no third here\n",
        "\nother: how other runs\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn without_weft_there_are_no_ratios() {
    let outcomes = [outcome("weft", Err("no link")), outcome("other", Ok(&[900.0]))];
    assert!(!text("Here", &outcomes).contains(" x)"));
    assert!(json("host", &outcomes).unwrap().iter().all(|line| !line.contains("weft_ratio")));
}
