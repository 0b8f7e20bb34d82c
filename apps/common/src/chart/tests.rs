use super::*;

fn chart(x: Scale, y: Scale) -> Chart {
    let mut chart = Chart::new("Null latency & more", ("ranks", x), ("us", y));
    chart.line("binary <", vec![(4.0, 22.0), (64.0, 72.0)]);
    let points = vec![(4.0, 30.0)];
    chart.series.push(Series { name: "paper".into(), points, rings: true });
    chart
}

#[test]
fn points_stand_where_the_axes_say() {
    let svg = chart(Scale::Logarithmic, Scale::Linear).svg();
    // 4 to 64 ranks fill the width; 72 is 72/75.6 of the height.
    let high = BOTTOM - (BOTTOM - TOP) * 72.0 / 75.6;
    let low = BOTTOM - (BOTTOM - TOP) * 22.0 / 75.6;
    let line = format!("points=\"{LEFT},{} {RIGHT},{}\"", num(low), num(high));
    assert!(svg.contains(&line), "{line} is not in {svg}");
    assert_eq!(svg.matches("<polyline").count(), 1, "rings have no line");
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
        let empty = Chart::new("Empty", ("x", x), ("y", y));
        let mut flat = empty.clone();
        flat.line("one point", vec![(0.0, 0.0)]);
        for svg in [empty.svg(), flat.svg()] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
