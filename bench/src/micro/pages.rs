//! Shared pages: what sharing memory costs where the processor finds out who has no copy. The peer
//! of `weft bench region`.
//!
//! Rank 0 has pages that it may not read. Where it reads one all the same, the kernel makes a
//! signal of that, whose handler asks rank 1 for the page, polls until it is here, and lets the
//! program go on. Packets and polling are those that regions use. It is the least that sharing by
//! pages can be: rank 1 protects nothing, keeps no directory and takes no page back.
#![allow(unsafe_code)]

use anyhow::{Result, bail};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft::{Packets, Rank};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// Pages whose faults the handler serves; one at a time in a process.
static SERVED: AtomicPtr<Pages> = AtomicPtr::new(ptr::null_mut());

/// Pages of which rank 1 has the bytes.
pub struct Pages {
    packets: Packets,
    start: NonNull<c_void>,
    pages: usize,
    /// The page that came last.
    received: Arc<Mutex<Vec<u8>>>,
    /// Pages that came so far, or at rank 1 went.
    count: Arc<AtomicU64>,
    before: libc::sigaction,
}

impl Pages {
    /// So many pages, none of which is here. Takes the upcall and the signal.
    pub fn new(packets: &Packets, pages: usize) -> Result<Box<Self>> {
        let (received, count) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<AtomicU64>::default());
        upcall(packets, Arc::clone(&received), Arc::clone(&count));
        let (bytes, private) = (pages * PAGE_BYTES, MapFlags::PRIVATE);
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), private)? };
        let Some(start) = NonNull::new(start) else { bail!("a mapping lies nowhere") };
        // SAFETY: a signal action may be all zeros.
        let before = unsafe { std::mem::zeroed() };
        let packets = packets.clone();
        let mut all = Box::new(Pages { packets, start, pages, received, count, before });
        SERVED.store(&raw mut *all, Ordering::Release);
        // SAFETY: as above.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_flags = libc::SA_SIGINFO;
        action.sa_sigaction = on_fault as *const () as usize;
        // SAFETY: both point to what they should; `on_fault` has the type that `SA_SIGINFO` asks
        // for.
        if unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut all.before) } != 0 {
            bail!("the signal for faults cannot be had: {}", std::io::Error::last_os_error());
        }
        Ok(all)
    }

    /// At rank 1: answers until so many pages have gone in all.
    pub fn answer(&self, pages: u64) -> Result<()> {
        Ok(self.packets.poll_until(|| self.count.load(Ordering::Acquire) >= pages)?)
    }

    /// Reads the first byte of a page, which may be a fault.
    pub fn read(&self, page: usize) -> u8 {
        assert!(page < self.pages, "one of these pages");
        // SAFETY: inside the mapping, which lives as long as `self`; if it may not be read,
        // `on_fault` runs and it may. Volatile, because that changes it.
        unsafe { self.start.cast::<u8>().add(page * PAGE_BYTES).read_volatile() }
    }

    fn bytes(&self) -> usize {
        self.pages * PAGE_BYTES
    }

    /// Gets the page at `address`; false if it is none of these.
    fn serve(&self, address: usize) -> Result<bool> {
        let offset = address.wrapping_sub(self.start.addr().get());
        if offset >= self.bytes() {
            return Ok(false);
        }
        let offset = offset / PAGE_BYTES * PAGE_BYTES;
        let wanted = self.count.load(Ordering::Relaxed) + 1;
        let mut packet = self.packets.packet()?;
        packet.put(&(offset as u64).to_le_bytes())?;
        packet.put(&[0; 8])?;
        packet.unicast(Rank(1))?;
        self.packets.poll_until(|| self.count.load(Ordering::Acquire) >= wanted)?;
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a page of the mapping, into which nobody has a reference; it is writable while it
        // is written, and `came` has a page's bytes, which `upcall` has counted.
        unsafe {
            let page = self.start.add(offset);
            mprotect(page.as_ptr(), PAGE_BYTES, MprotectFlags::READ | MprotectFlags::WRITE)?;
            page.cast::<u8>()
                .copy_from_nonoverlapping(NonNull::from(&received[..]).cast(), PAGE_BYTES);
            mprotect(page.as_ptr(), PAGE_BYTES, MprotectFlags::READ)?;
        }
        received.clear();
        Ok(true)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: what was there before; from here on nobody touches these pages.
        unsafe { libc::sigaction(libc::SIGSEGV, &raw const self.before, ptr::null_mut()) };
        SERVED.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: the mapping of `self`, which goes.
        let _ = unsafe { munmap(self.start.as_ptr(), self.bytes()) };
    }
}

/// Answers requests with pages, and collects pages.
fn upcall(packets: &Packets, received: Arc<Mutex<Vec<u8>>>, count: Arc<AtomicU64>) {
    let (answers, page) = (packets.clone(), vec![7; PAGE_BYTES]);
    packets.on_packet(move |packet| {
        if answers.rank() != 0 {
            // A lost rank shows at the next poll.
            let _ = send(&answers, packet.source(), &page);
            count.fetch_add(1, Ordering::Release);
            return;
        }
        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
        received.extend_from_slice(&packet);
        if received.len() == PAGE_BYTES {
            count.fetch_add(1, Ordering::Release);
        }
    });
}

/// Sends bytes in as many packets as it takes.
pub fn send(packets: &Packets, to: Rank, bytes: &[u8]) -> weft::Result<()> {
    for part in bytes.chunks(packets.max_payload()) {
        let mut packet = packets.packet()?;
        packet.put(part)?;
        packet.unicast(to)?;
    }
    Ok(())
}

/// The program touched what it may not. Runs where that happened: inside [`Pages::read`], which
/// holds nothing of Weft's.
extern "C" fn on_fault(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes the address of a fault; `SERVED` is a live `Pages` or null, because
    // whoever drops it takes this handler away first.
    let served = unsafe {
        SERVED.load(Ordering::Acquire).as_ref().map(|pages| pages.serve((*info).si_addr().addr()))
    };
    if !matches!(served, Some(Ok(true))) {
        // SAFETY: as any handler may; a fault that is not ours happens again, and ends the process.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
    }
}
