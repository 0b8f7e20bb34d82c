//! Descriptions that are good, and those that are not.

use super::{MachineError, MachineModel, NAMES, Scheme, per_byte};

fn changed(from: &str, to: &str) -> Result<MachineModel, MachineError> {
    let (_, text) = NAMES[0];
    assert!(text.contains(from), "the description has '{from}'");
    MachineModel::parse(&text.replace(from, to))
}

#[test]
fn all_known_machines_are_good() {
    for (name, _) in NAMES {
        assert!(MachineModel::named(name).is_ok(), "{name}");
    }
    let error = MachineModel::named("cray").unwrap_err().to_string();
    let known = "there are myrinet, myrinet-compared, host, fast-ethernet, medusa, and any file that describes one: FILE.toml";
    assert_eq!(error, format!("there is no machine 'cray'; {known}"));
}

#[test]
fn the_parts_of_the_cluster_add_up_to_its_loggp_parameters() {
    let MachineModel { host, ni, bus, link, .. } = MachineModel::myrinet().unwrap();
    let bytes = 16.0;
    let send = host.launch_ns as f64 + bytes * host.launch_ns_per_byte;
    let wire = (f64::from(link.header_bytes) + bytes) * link.ns_per_byte + link.latency_ns as f64;
    let copy = bus.setup_ns as f64 + bytes * bus.ns_per_byte;
    let latency = ni.send_ns as f64 + wire + ni.receive_ns as f64 + copy;
    let work = ni.receive_ns + ni.receive_after_ns + ni.copied_ns;
    let gap = work + per_byte(link.ns_per_byte, 32);
    let filled = host.allocate_ns as f64 + send + (1024.0 - bytes) * host.launch_ns_per_byte;
    let is_near = |value: f64, paper: f64| (value - paper).abs() < 0.002 * paper;
    assert!(is_near(send, 1600.0), "o_s is {send}");
    assert!(is_near((host.poll_ns + host.process_ns) as f64, 2200.0));
    assert!(is_near(latency, 8200.0), "L is {latency}");
    assert!(is_near(gap as f64, 5600.0), "g is {gap}");
    assert_eq!(work, ni.send_ns + ni.send_after_ns, "both NIs are as busy");
    assert!(
        is_near(1024.0 / filled * 1e9, 72.0 * f64::from(1 << 20)),
        "G is 1024 bytes in {filled}"
    );
}

#[test]
fn what_is_wrong_is_named() {
    let error = changed("\npoll_ns = 74", "\npoll_ns = 0").unwrap_err().to_string();
    assert_eq!(error, "the machine's host.poll_ns cannot be 0: it must be more than 0");
    let error = changed("\nns_per_byte = 7.509", "\nns_per_byte = -1.0").unwrap_err().to_string();
    assert!(error.starts_with("the machine's bus.ns_per_byte cannot be -1:"), "{error}");
    let error = changed("\nns_per_byte = 7.509", "\nns_per_byte = nan").unwrap_err().to_string();
    assert!(error.starts_with("the machine's bus.ns_per_byte cannot be NaN:"), "{error}");
    let error = changed("poll_ns", "pole_ns").unwrap_err().to_string();
    assert!(error.contains("pole_ns"), "{error}");
    let error = changed("copied_ns = 977", "").unwrap_err().to_string();
    assert!(error.contains("copied_ns"), "{error}");
    let wrong = format!("{}\n[hrx.host]\npoll_ns = 0\n", NAMES[0].1);
    assert!(matches!(
        MachineModel::parse(&wrong),
        Err(MachineError::Value { field: "host.poll_ns", .. })
    ));
}

#[test]
fn a_scheme_may_cost_something_else() {
    let text = format!("{}\n[irx.ni]\nsend_ns = 2500\n[hrx.host]\nlaunch_ns = 2300\n", NAMES[0].1);
    let machine = MachineModel::parse(&text).unwrap();
    let costs = |scheme| {
        let machine = machine.for_scheme(scheme);
        (machine.ni.send_ns, machine.host.launch_ns, machine.ni.receive_ns)
    };
    let (_, launch_ns, receive_ns) = costs(Scheme::Nrx);
    assert_eq!(costs(Scheme::Irx), (2500, launch_ns, receive_ns));
    assert_eq!(costs(Scheme::Hrx), (machine.ni.send_ns, 2300, receive_ns));
}

#[test]
fn windows_are_shares_of_the_receive_buffers() {
    let machine = MachineModel::myrinet().unwrap();
    let windows = [2, 64, 512, 10_000].map(|ranks| machine.window_packets(ranks));
    assert_eq!(windows, [256, 8, 1, 1]);
}

#[test]
fn what_does_not_parse_is_named_with_its_line() {
    let text = NAMES[0].1.replacen("\nsend_ns = ", "\nsend_ns = true # ", 1);
    let line = 1 + text.lines().position(|line| line.starts_with("send_ns")).unwrap();
    let error = MachineModel::parse(&text).unwrap_err().to_string();
    assert!(error.contains(&format!("line {line}: invalid type: boolean `true`")), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn computation_as_measured_takes_as_long_as_it_does_unless_the_file_says_otherwise() {
    assert_eq!(MachineModel::myrinet().unwrap().host.measured_times, 1.0);
    let slower = changed("[ni]", "measured_times = 12.5\n[ni]").unwrap();
    assert_eq!(slower.host.measured_times, 12.5);
    assert!(changed("[ni]", "measured_times = -1\n[ni]").is_err());
}

#[test]
fn a_machine_that_knows_a_cache_has_slower_copies_beyond_it() {
    let machine = MachineModel::myrinet().unwrap();
    let beyond = machine.beyond_cache().unwrap();
    assert!(beyond.host.copy_ns_per_byte > 3.0 * machine.host.copy_ns_per_byte);
    assert_eq!((machine.bus_part, beyond.bus_part), (0.0, 0.747));
    assert_eq!(MachineModel::named("host").unwrap().beyond_cache(), None);
    let error = changed("bus_part = 0.747", "bus_part = 1.0").unwrap_err().to_string();
    let why = "it must be a part: from 0 to below 1";
    assert_eq!(error, format!("the machine's beyond_cache.bus_part cannot be 1: {why}"));
}
