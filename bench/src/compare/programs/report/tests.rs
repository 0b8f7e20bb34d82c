use super::*;
use serde_json::Value;

fn outcomes() -> Vec<Outcome> {
    let outcome = |program: &str, way, turns: Result<&[f64], &str>| Outcome {
        program: program.to_owned(),
        setting: Setting::SharedCores,
        way,
        turns: turns.map(<[f64]>::to_vec).map_err(str::to_owned),
    };
    vec![
        outcome("cg", Way::Tcp, Ok(&[0.5, 0.4, 0.6])),
        outcome("cg", Way::Udp, Ok(&[0.25, 0.25, 1.0])),
        outcome("sweep", Way::Tcp, Err("no mpif90 here")),
        outcome("sweep", Way::Udp, Err("no mpif90 here")),
        outcome("wave", Way::Tcp, Ok(&[0.2])),
        outcome("wave", Way::Udp, Ok(&[0.3])),
    ]
}

#[test]
fn a_line_of_json_is_a_program_by_one_way_with_its_ratios() {
    let lines = json(&outcomes()).unwrap();
    let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    let udp = &lines[1];
    let of = |field: &str| &udp[field];
    assert_eq!((of("place"), of("program")), (&"programs".into(), &"cg".into()));
    assert_eq!((of("ranks"), of("peer")), (&4.into(), &"weft-udp".into()));
    assert_eq!((of("unit"), of("p50"), of("mean")), (&"s".into(), &0.25.into(), &0.5.into()));
    assert_eq!(of("turns"), &serde_json::json!([0.25, 0.25, 1.0]));
    assert_eq!((of("tcp_ratio"), of("tcp_mean_ratio")), (&0.5.into(), &1.0.into()));
    assert!(of("settings").as_str().unwrap().starts_with("WEFT_LINK=udp weft mpirun"));
    assert_eq!(lines[3]["missing"], "no mpif90 here");
    assert_eq!(lines[3].get("p50"), None);
}

#[test]
fn a_table_has_ratios_their_median_who_is_missing_and_how_all_ran() {
    let text = text(Setting::SharedCores, &outcomes());
    assert!(
        text.starts_with("4 ranks, two on each of two hosts, which share two cores; "),
        "{text}"
    );
    for part in [
        "0.500 / 0.500 ┆",
        "0.250 / 0.500 (0.50 / 1.00 x)",
        "0.300 / 0.300 (1.50 / 1.50 x)",
        " 1.50 x │",
        "\nsweep on Weft (udp): not measured: no mpif90 here\n",
        "\non Weft (udp): WEFT_LINK=udp weft mpirun",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}
