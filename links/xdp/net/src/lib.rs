//! The part of Weft that needs capabilities: sockets of AF_XDP, and the XDP program on an
//! interface. The program `weft-net` of this package is the only one of Weft that is to have any;
//! what is here is its library, so that tests can do the same in their own processes.
//!
//! | module | what |
//! |---|---|
//! | `capability` | which capabilities are needed, and that there are no others |
//! | `program` | the XDP program (`bpf/weft.bpf.c`): attached, told which socket is for whom |
//! | `host` | [`XdpHost`]: the program on an interface, and sockets for the ranks of this host |
//! | `serve` | [`serve`]: who asks, what for, and the answer |
//! | `kernel` | what nobody offers as a safe call (`unsafe`) |
//!
//! Why each is needed: CAP_NET_RAW for `socket(AF_XDP)`, and for the socket that has an interface
//! accept what the network copies; CAP_BPF for maps and the program, CAP_NET_ADMIN for a program of
//! that kind and for putting it on an interface. To take a queue with a socket that one has, to
//! give the kernel memory and to map rings takes none. Sockets are bound here all the same: one
//! that is not may be bound to any interface by whoever has it.
//!
//! May use `links/xdp`, `links/datagram` and `wire`. Keeps: nothing is done for whoever is not the
//! parent; nothing is handed over that opens more than one queue of one Ethernet interface; nothing
//! of it outlives the processes that have it.

#![deny(unsafe_code)]

mod capability;
mod host;
mod kernel;
mod program;
mod serve;

pub use capability::{keep_needed, keep_none, missing};
pub use host::{XdpHost, XdpOptions};
pub use kernel::{clear_environment, close_inherited};
pub use program::Seen;
pub use serve::{Stranger, check_caller, serve};
