use super::{Budget, CountedWith, Figures, Verdict};

fn figures(packet: f64) -> Figures {
    [("packet".to_owned(), packet), ("call".to_owned(), 4000.0)].into()
}

fn budget() -> Budget {
    Budget { counted_with: CountedWith::here(), figures: figures(1000.0) }
}

#[test]
fn three_per_cent_more_are_too_many_and_one_is_not() {
    let (budget, here) = (budget(), CountedWith::here());
    assert_eq!(budget.grown(&here, &figures(1030.0)), ["packet"]);
    assert!(budget.grown(&here, &figures(1010.0)).is_empty());
    assert!(budget.grown(&here, &figures(500.0)).is_empty());
}

#[test]
fn another_compiler_or_target_is_not_compared() {
    let (budget, grown) = (budget(), figures(1030.0));
    for here in [
        CountedWith { rustc: "1.0.0".into(), ..CountedWith::here() },
        CountedWith { target: "none".into(), ..CountedWith::here() },
        CountedWith { features: "none".into(), ..CountedWith::here() },
    ] {
        assert!(budget.grown(&here, &grown).is_empty());
    }
}

#[test]
fn a_figure_is_judged() {
    let budget = budget();
    assert_eq!(budget.judge("packet", 1021.0), Verdict::Grown);
    assert_eq!(budget.judge("packet", 1019.0), Verdict::Kept);
    assert_eq!(budget.judge("packet", 979.0), Verdict::Shrunk);
    assert_eq!(budget.judge("unheard of", 1.0), Verdict::New);
}

#[test]
fn what_is_written_is_read_again() {
    let budget = budget();
    let text = budget.text(&["packet", "call", "absent"]);
    assert!(text.find("packet = 1000.0").unwrap() < text.find("call = 4000.0").unwrap());
    assert_eq!(toml::from_str::<Budget>(&text).unwrap(), budget);
}
