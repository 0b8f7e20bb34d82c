//! A libfabric whose one provider is Weft's: `libfabric.so.1` for ranks of an Open MPI 4, in place
//! of the system's.
//!
//! That one wakes all providers before anybody says which is wanted. Debian's is linked with
//! libraries of hardware: one measures its clock for 0.2 s when it is loaded, and all names of the
//! kernel are read twice. Here are the functions that Open MPI 4 calls, and the tests' clients:
//! what there is, and the first object. All others are in tables of the provider's.
//!
//! | module | what |
//! |---|---|
//! | `provider` | `libweft-fi.so`, found by `FI_PROVIDER_PATH` (`unsafe`) |
//! | `info` | `struct fi_info`, copied and freed (`unsafe`) |
//! | `calls` | the functions of libfabric (`unsafe`) |
//!
//! Uses the layouts of libfabric 1.17, and nothing else of the tree. Keeps: who asks for what is
//! not here is told `-FI_ENOSYS` or `-FI_ENODATA`, as by a libfabric that lacks it.

#![deny(unsafe_code)]

mod calls;
mod info;
mod provider;
