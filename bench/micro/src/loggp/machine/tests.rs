use super::*;

const COSTS: Costs = Costs {
    allocate: 12.4,
    launch: 31.6,
    launch_per_byte: 0.031_25,
    poll: 0.4,
    process: 55.0,
    copy_per_byte: 0.05,
    release: 8.0,
    interrupt: 25_000.0,
    operation: 0.25,
    latency: -3.0,
};

#[test]
fn a_description_has_what_was_measured_and_nothing_that_cannot_be() {
    let text = describe("here", &COSTS, &Settings::new(2));
    let machine: toml::Table = text.parse().unwrap();
    let number = |table: &str, field: &str| {
        let value = &machine[table][field];
        value.as_float().or(value.as_integer().map(|whole| whole as f64)).unwrap()
    };
    assert_eq!(number("host", "launch_ns"), 32.0);
    assert_eq!(number("host", "launch_ns_per_byte"), 0.0312);
    assert_eq!(number("host", "poll_ns"), 1.0, "time must pass");
    assert_eq!(number("link", "latency_ns"), 0.0, "nothing arrives before it is sent");
    assert_eq!(number("ni", "send_ns") + number("bus", "setup_ns"), 0.0);
    assert_eq!(number("pools", "ni_receive_buffers"), 128.0);
    assert!(text.starts_with("# The machine 'here': "));
    let tables: Vec<&String> = machine.keys().collect();
    assert_eq!(tables.len(), 6, "{tables:?}");
}
