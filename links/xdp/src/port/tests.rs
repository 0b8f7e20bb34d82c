use super::*;

const LAYOUT: PortLayout = PortLayout {
    ranks: 4,
    sizes: XdpSizes { frames: 16, receive_frames: 8 },
    greeter: true,
    chunk_bytes: 2048,
};

/// True if a port with this layout, MTU and index is one that there may be.
fn is_sound(layout: PortLayout, mtu: u32, index: u32) -> bool {
    let mode = Mode { attached: Attached::Native, zero_copy: false };
    let mac = MacAddress([2; 6]);
    let shared = SharedPlan { layout, mac, mtu, ethertype: 0x88B5, mode };
    PortPlan { shared, index }.is_sound()
}

#[test]
fn a_plan_whose_numbers_no_port_has_is_found_out() {
    assert!(is_sound(LAYOUT, 1500, 0) && is_sound(LAYOUT, 1500, 4), "the last is the greeter's");
    assert!(!is_sound(LAYOUT, 1500, 5) && !is_sound(LAYOUT, 1500, u32::MAX));
    assert!(!is_sound(LAYOUT, 2048, 0) && !is_sound(LAYOUT, u32::MAX, 0));
    let huge = XdpSizes { frames: u32::MAX, receive_frames: u32::MAX };
    let none = XdpSizes { frames: 0, ..LAYOUT.sizes };
    for layout in [
        PortLayout { ranks: 0, ..LAYOUT },
        PortLayout { ranks: u32::MAX, ..LAYOUT },
        PortLayout { sizes: huge, ..LAYOUT },
        PortLayout { sizes: none, ..LAYOUT },
        PortLayout { chunk_bytes: 0, ..LAYOUT },
        PortLayout { chunk_bytes: 1 << 31, ..LAYOUT },
    ] {
        assert!(!is_sound(layout, 1500, 0), "{layout:?}");
    }
}
