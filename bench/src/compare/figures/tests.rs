use super::*;

const SAID: &str =
    "latency 5312.250 10624.5\nrate 170989.345 9444.069\nbandwidth 1113869350.5 1337065.4\n";

#[test]
fn the_pair_programs_lines_are_read() {
    let figures = Figures::of_pair(SAID).unwrap();
    let figure = |value, processor| Some(Figure { value, processor_ns: Some(processor) });
    assert_eq!(figures.get(What::Latency), figure(5312.25, 10624.5));
    assert_eq!(figures.get(What::Rate), figure(170989.345, 9444.069));
    assert_eq!(figures.get(What::Bandwidth), figure(1113869350.5, 1337065.4));
}

#[test]
fn lines_of_others_between_them_do_no_harm() {
    let said = SAID.replace("rate", "a warning of mpirun\n\nrate");
    assert_eq!(Figures::of_pair(&said).unwrap(), Figures::of_pair(SAID).unwrap());
}

#[test]
fn what_is_no_figure_is_refused() {
    for (from, to) in [
        ("rate 170989.345 9444.069\n", ""),
        ("170989.345", "fast"),
        ("170989.345", "nan"),
        ("170989.345", "-1"),
        (" 9444.069", ""),
    ] {
        let said = SAID.replace(from, to);
        Figures::of_pair(&said).unwrap_err();
    }
}

#[test]
fn figures_read_well() {
    assert_eq!(What::Latency.text(345.4), "345 ns");
    assert_eq!(What::Latency.text(5_312.0), "5.31 us");
    assert_eq!(What::Rate.text(170_989.0), "171 k/s");
    assert_eq!(What::Rate.text(8.54e6), "8.5 M/s");
    assert_eq!(What::Bandwidth.text(3.69e8), "369 MB/s");
    assert_eq!(What::Bandwidth.text(1.97e10), "19.7 GB/s");
}
