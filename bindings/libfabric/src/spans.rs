//! `struct weft_trace` (`include/weft-trace.h`): spans of a traced run, for libraries between a
//! program and its MPI library.
#![allow(unsafe_code)] // For `no_mangle` only.

use crate::job::Job;

/// Of the table, as far as it is here.
const VERSION: u32 = 1;

/// The table of functions.
#[repr(C)]
pub struct Table {
    version: u32,
    begin: extern "C" fn(u64, u64, u64) -> u32,
    end: extern "C" fn(u32),
}

// The numbers stand in tests/layouts.c too, where they are compared with the header.
const _: () =
    assert!(std::mem::offset_of!(Table, begin) == 8 && std::mem::offset_of!(Table, end) == 16);

static TABLE: Table = Table { version: VERSION, begin, end };

/// The table, if this process is in a job of Weft's that is traced; it stays where it is.
// SAFETY: no other library has a function of this name; a lookup takes it from this one.
#[unsafe(no_mangle)]
pub extern "C" fn weft_trace_table(version: u32) -> Option<&'static Table> {
    let is_traced = Job::current().is_some_and(|job| job.packets().trace().is_on());
    (version <= VERSION && is_traced).then_some(&TABLE)
}

extern "C" fn begin(first: u64, second: u64, third: u64) -> u32 {
    let bytes: Vec<u8> =
        [first, second, third].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let name = String::from_utf8_lossy(&bytes[..length]);
    Job::current().map_or(0, |job| job.packets().trace().begin_span(&name))
}

extern "C" fn end(span: u32) {
    if let Some(job) = Job::current() {
        job.packets().trace().end_span(span);
    }
}
