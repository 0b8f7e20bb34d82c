use super::*;

const HEAD: &str =
    "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n";

#[test]
fn microseconds_of_the_last_line_are_read() {
    let said = format!(
        "{HEAD}8       5k      =5k      78k         0.26s      0.31      26.17       0.04\n"
    );
    assert!((read(&said).unwrap() - 26_170.0).abs() < 1e-6);
}

#[test]
fn something_else_is_refused() {
    read("").unwrap_err();
    read(HEAD).unwrap_err();
    read("fi_getinfo: -61").unwrap_err();
}
