use super::*;

fn plot(x: Scale, y: Scale) -> Plot {
    let mut plot = Plot::new("test", "Null latency & more", ("ranks", x), ("us", y));
    plot.line("binary <", vec![(4.0, 22.0), (64.0, 72.0)]);
    plot.paper("paper", &[(4.0, "S5.3.1-bcast-null-4")]);
    plot.with_paper(&Targets::read().unwrap()).unwrap()
}

#[test]
fn points_stand_where_the_axes_say() {
    let svg = plot(Scale::Logarithmic, Scale::Linear).svg();
    // 4 to 64 ranks fill the width; 72 is 72/75.6 of the height.
    let high = BOTTOM - (BOTTOM - TOP) * 72.0 / 75.6;
    let low = BOTTOM - (BOTTOM - TOP) * 22.0 / 75.6;
    let line = format!("points=\"{LEFT},{} {RIGHT},{}\"", num(low), num(high));
    assert!(svg.contains(&line), "{line} is not in {svg}");
    assert_eq!(svg.matches("<polyline").count(), 1, "the paper's points have no line");
    assert_eq!(svg.matches("<circle").count(), 5, "three points, two in the legend");
    assert!(svg.contains("Null latency &amp; more") && svg.contains("binary &lt;"));
}

#[test]
fn ticks_are_round_and_few() {
    let ticks = |scale, low, high| Range::new(scale, [low, high].into_iter(), 0.0, 100.0).ticks();
    assert_eq!(ticks(Scale::Linear, 22.0, 72.0), [0.0, 20.0, 40.0, 60.0]);
    assert_eq!(ticks(Scale::Linear, 0.1, 0.5), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    assert_eq!(ticks(Scale::Logarithmic, 4.0, 64.0), [4.0, 8.0, 16.0, 32.0, 64.0]);
    assert_eq!(ticks(Scale::Logarithmic, 3.0, 5.0), [2.0, 4.0, 8.0]);
    assert!(ticks(Scale::Logarithmic, 1.0, 1e9).len() <= 11);
}

#[test]
fn nothing_to_draw_is_an_empty_figure_not_a_broken_one() {
    for (x, y) in [(Scale::Linear, Scale::Logarithmic), (Scale::Logarithmic, Scale::Linear)] {
        let empty = Plot::new("empty", "Empty", ("x", x), ("y", y));
        let mut flat = empty.clone();
        flat.line("one point", vec![(0.0, 0.0)]);
        for svg in [empty.svg(), flat.svg()] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

#[test]
fn what_the_paper_prints_is_looked_up() {
    let targets = Targets::read().unwrap();
    let axes = (("fanout", Scale::Linear), ("us", Scale::Linear));
    let mut gap = Plot::new("gap", "Gap", axes.0, axes.1);
    gap.paper_line("paper", "S5.3.1-alpha", "S5.3.1-beta", &[1.0, 10.0]);
    let drawn = gap.clone().with_paper(&targets).unwrap();
    let [(x, one), (_, ten)] = drawn.series[0].points[..] else { panic!("two points") };
    assert!(x == 1.0 && (one - 9.8).abs() < 1e-9 && (ten - 51.2).abs() < 1e-9, "{one} {ten}");
    gap.paper("words", &[(1.0, "S5.2-fa-bottleneck")]);
    assert_eq!(gap.with_paper(&targets), Err("S5.2-fa-bottleneck"));
}
