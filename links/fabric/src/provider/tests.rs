use super::*;

fn found(names: &[&str]) -> Vec<FoundProvider> {
    let one = |name: &&str| FoundProvider {
        name: (*name).into(),
        domains: Vec::new(),
        standing: Standing::of(name),
    };
    names.iter().map(one).collect()
}

fn taken(names: &[&str]) -> Option<String> {
    with_hardware(&found(names)).map(|provider| provider.name.clone())
}

#[test]
fn the_first_provider_with_hardware_is_taken() {
    let all = ["shm", "tcp;ofi_rxm", "verbs;ofi_rxm", "cxi", "udp;ofi_rxd"];
    assert_eq!(taken(&all).as_deref(), Some("verbs;ofi_rxm"));
    for name in ["verbs;ofi_rxm", "verbs;ofi_rxd", "cxi", "efa", "opx", "psm2"] {
        assert_eq!(taken(&[name]).as_deref(), Some(name));
    }
}

#[test]
fn ordinary_networks_one_host_and_weft_are_never_taken() {
    let none = ["tcp;ofi_rxm", "tcp", "udp;ofi_rxd", "udp", "sockets", "net;ofi_rxm", "net"];
    assert_eq!(taken(&none), None);
    assert_eq!(taken(&["shm", "sm2", "weft", "weft;ofi_rxm"]), None);
    assert_eq!(taken(&[]), None);
}
