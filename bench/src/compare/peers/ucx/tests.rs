use super::*;

const HEAD: &str = "\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
";

#[test]
fn the_last_line_is_read() {
    let said = |line: &str| format!("{HEAD}{line}\n");
    let latency = said(
        "          10000      5.541    16.743    16.743        0.46       0.46       59728       59728",
    );
    let rate = said(
        "         100000      3.686     9.356     9.356        6.52       6.52      106888      106889",
    );
    let bandwidth = said(
        "            300      5.749  1157.796  1157.796      863.71     863.71         864         864",
    );
    assert!((read(What::Latency, &latency).unwrap() - 5541.0).abs() < 1e-6);
    assert_eq!(read(What::Rate, &rate).unwrap(), 106_889.0);
    assert_eq!(read(What::Bandwidth, &bandwidth).unwrap(), 864.0 * 1_048_576.0);
}

#[test]
fn something_else_is_refused() {
    read(What::Rate, "").unwrap_err();
    read(What::Rate, HEAD).unwrap_err();
    read(What::Rate, "1 2 3 4 5 6 7 many").unwrap_err();
}
