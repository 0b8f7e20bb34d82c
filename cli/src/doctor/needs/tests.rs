use super::*;

#[test]
fn cores_are_told_with_who_wants_them() {
    let detail = |quota, others| of_cores(&Cores { count: 2, quota, others }).detail;
    assert_eq!(detail(None, 0), "2: more ranks than that take turns");
    assert_eq!(
        detail(None, 3),
        "2: more ranks than that take turns; 3 other processes want cores now, and ranks beside them wait by yields"
    );
    assert_eq!(detail(Some(2.0), 0), "2: more ranks than that take turns");
}

#[test]
fn a_quota_is_told_with_what_to_do() {
    let found = of_cores(&Cores { count: 2, quota: Some(0.5), others: 0 });
    assert!(found.detail.ends_with("; a quota of 0.5, and ranks that would use more wait asleep"));
    assert!(found.advice.unwrap().contains("cpu.max"));
}
