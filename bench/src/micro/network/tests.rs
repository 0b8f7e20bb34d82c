use super::*;
use clap::Parser;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    spec: Spec,
}

fn refused(words: &str) -> String {
    let words = Words::parse_from(["bench"].into_iter().chain(words.split_whitespace()));
    run(&words.spec).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_starts() {
    assert_eq!(
        refused("barrier --link udp"),
        "between hosts there are latency, message, rate, bandwidth, rpc, put, put-rpc, rendezvous, region, object, linda, events, fairness, coexist and after-pause"
    );
    assert_eq!(refused("latency --hosts a,b -n 3"), "between hosts, benchmarks have two ranks");
    assert_eq!(
        refused("latency --hosts a,b --loss 0.1"),
        "--loss is for hosts that are made here, of network namespaces"
    );
    assert_eq!(refused("latency --hosts a,b,c"), "a benchmark is between two hosts: --hosts a,b");
    assert_eq!(
        refused("bandwidth --link udp --size 67108865"),
        "--size 67108865 is outside 1 to 67108864 bytes for this benchmark"
    );
}

#[test]
fn a_row_names_what_was_not_measured_and_what_processors_did() {
    let spec = Words::parse_from(["bench", "bandwidth", "--link", "udp", "--size", "2000000"]).spec;
    let measured = |p50, processor_ns| Measured { samples: vec![p50; 3], processor_ns };
    let missing = ("af_xdp", Err("it is not there".into()));
    let floors = [missing, ("udp", Ok(measured(4e8, 2e6))), ("tcp", Ok(measured(1e9, 3e6)))];
    let row = row(&spec, &shape(&spec).unwrap(), measured(8e8, 1e6), floors);
    let json = serde_json::to_value(&row).unwrap();
    assert_eq!(json["bench"], "bandwidth");
    assert_eq!(json["link"], "udp");
    assert_eq!(json["unit"], "bytes_per_second");
    assert_eq!(json["processor_ns_per_message"], 1e6);
    assert_eq!(json["processor_ns_per_megabyte"], 5e5);
    let [af_xdp, udp, tcp] = [0, 1, 2].map(|index| json["floors"][index].clone());
    assert_eq!(af_xdp["what"], "af_xdp");
    assert_eq!(af_xdp["p50"], serde_json::Value::Null);
    assert_eq!(af_xdp["missing"], "it is not there");
    assert_eq!((&udp["what"], &udp["p50"]), (&"udp".into(), &4e8.into()));
    assert_eq!(tcp["processor_ns_per_message"], 3e6);
}
