use super::*;

#[test]
fn what_the_paper_prints_is_looked_up() {
    let targets = Targets::read().unwrap();
    let axes = (("fanout", Scale::Linear), ("us", Scale::Linear));
    let mut gap = Plot::new("gap", "Gap", axes.0, axes.1);
    gap.paper_line("paper", "S5.3.1-alpha", "S5.3.1-beta", &[1.0, 10.0]);
    let drawn = gap.clone().with_paper(&targets).unwrap();
    let [(x, one), (_, ten)] = drawn.chart.series[0].points[..] else { panic!("two points") };
    assert!(x == 1.0 && (one - 9.8).abs() < 1e-9 && (ten - 51.2).abs() < 1e-9, "{one} {ten}");
    gap.paper("words", &[(1.0, "S5.2-fa-bottleneck")]);
    assert_eq!(gap.with_paper(&targets), Err("S5.2-fa-bottleneck"));
}
