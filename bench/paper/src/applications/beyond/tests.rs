use super::{Beyond, Line, RANKS, WAYS, cells};
use weft_bench::suite::Application;

fn line(application: Application, ranks: u16, protocol: &str, seconds: f64) -> Line {
    Line {
        application: application.name().to_owned(),
        ranks,
        protocol: protocol.to_owned(),
        seconds,
        one: 8.0,
        computing: 50.0,
        host: 20.0,
        ni: 10.0,
        busiest_host: 30.0,
        busiest_ni: 15.0,
        data: 1_000,
        acknowledgements: 200,
        others: 0,
        interrupts: 3,
        blocked: 4,
        retransmissions: 5,
        no_buffer: 6,
        took: 1.0,
    }
}

#[test]
fn all_protocols_run_on_all_ranks() {
    let cells = cells(&[Application::Asp, Application::Sor], &RANKS, &[]);
    assert_eq!(cells.len(), 2 * RANKS.len() * WAYS.len());
    let names = cells.iter().map(|(name, cell)| (name, cell.preset, cell.variation));
    assert!(names.take(WAYS.len()).eq(WAYS.iter().map(|way| (&way.0, way.1, way.2))));
}

#[test]
fn what_takes_too_long_is_run_only_if_it_is_asked_for() {
    let of = |application, ranks: &[u16], protocols: &[&str]| {
        let protocols: Vec<String> = protocols.iter().map(|name| (*name).to_owned()).collect();
        cells(&[application], ranks, &protocols).len()
    };
    assert_eq!(of(Application::Awari, &[], &[]), WAYS.len());
    assert_eq!(of(Application::Sor, &[], &[]), WAYS.len() * RANKS.len());
    assert_eq!(of(Application::Fft, &[], &[]), WAYS.len() * 2 + 2);
    assert_eq!(of(Application::Awari, &[1024], &[]), WAYS.len());
    assert_eq!(of(Application::Awari, &[], &["pupa"]), RANKS.len());
    assert_eq!(of(Application::Awari, &[256, 1024], &["pupa", "nrx-imc"]), 4);
}

#[test]
fn a_run_replaces_the_one_that_was_there_and_no_other() {
    let mut beyond = Beyond::default();
    beyond.keep(line(Application::Sor, 256, "pupa", 2.0));
    beyond.keep(line(Application::Asp, 1024, "nrx-imc", 1.0));
    beyond.keep(line(Application::Sor, 64, "pupa", 4.0));
    beyond.keep(line(Application::Sor, 256, "pupa", 0.5));
    let seen: Vec<(&str, u16, f64)> = beyond
        .lines
        .iter()
        .map(|line| (line.application.as_str(), line.ranks, line.seconds))
        .collect();
    assert_eq!(seen, [("asp", 1024, 1.0), ("sor", 64, 4.0), ("sor", 256, 0.5)]);
}

#[test]
fn what_was_not_run_has_no_figure() {
    let mut beyond = Beyond::default();
    beyond.keep(line(Application::Fft, 256, "hrx-hmc", 0.25));
    let section = beyond.section();
    let words = |start: &str| -> Vec<String> {
        let row = section.lines().find(|line| line.starts_with(start)).unwrap();
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    assert_eq!(words("| FFT ")[3..8], ["256", "-", "-", "32.0 (0.2500 s)", "-"]);
    assert!(!section.contains("1,024 |"), "{section}");
}

#[test]
fn results_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Beyond::read(folder.path()).unwrap().lines, []);
    let mut beyond = Beyond::default();
    beyond.keep(line(Application::Qr, 64, "adaptive", 0.125));
    beyond.write(folder.path()).unwrap();
    assert_eq!(Beyond::read(folder.path()).unwrap().lines, beyond.lines);
}
