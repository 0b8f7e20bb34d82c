//! The library, found when the program runs: `fi_getinfo` and what it returns.
//!
//! The `unsafe` of this module, and why it is sound: the library is libfabric 1.x or 2.x, whose
//! layouts are those of `abi` (both only append to them, and a symbol without a version
//! is the newest one, which takes the longest `fi_info`). An [`Offers`] owns the list that
//! `fi_getinfo` returned, whose entries stay until `fi_freeinfo`. Hints are longer than any
//! version's layouts and zero behind ours.
#![allow(unsafe_code)]

use crate::abi::client::Fabric;
use crate::abi::{
    DomainAttr, EP_RDM, EpAttr, FabricAttr, Info, ORDER_SAS, RM_ENABLED, RxAttr, THREAD_DOMAIN,
    TxAttr, address, flag, mode, region,
};
use crate::error::{FabricError, LibfabricError};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::net::IpAddr;
use std::ptr;
use std::sync::OnceLock;

/// File name of the library, of both major versions.
const NAME: &str = "libfabric.so.1";
/// Environment variable that names the file of another one.
const CHOSEN: &str = "WEFT_LIBFABRIC";
/// Version of the interface that is asked for: 1.9, the oldest in use and the layouts' own.
const VERSION: u32 = 1 << 16 | 9;
/// Ways of registering memory that this link follows.
const REGION_MODES: c_int =
    region::LOCAL | region::VIRT_ADDR | region::ALLOCATED | region::PROV_KEY | region::ENDPOINT;
/// Bytes behind each part of the hints, all zero, for what later versions have appended.
const BEHIND: usize = 256;

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;

/// The library, loaded until the process ends.
pub(crate) struct Library {
    get_info: GetInfo,
    free_info: unsafe extern "C" fn(*mut Info),
    fabric: unsafe extern "C" fn(*mut FabricAttr, *mut *mut Fabric, *mut c_void) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    version: u32,
}

impl Library {
    /// The library, loaded by the first who asks.
    ///
    /// # Errors
    /// It is not installed, or is no libfabric.
    pub fn get() -> Result<&'static Library, FabricError> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        let loaded = LIBRARY.get_or_init(Library::load);
        loaded.as_ref().map_err(|why| FabricError::NoLibrary(why.clone()))
    }

    fn load() -> Result<Self, String> {
        let chosen = std::env::var_os(CHOSEN).filter(|path| !path.is_empty());
        match chosen {
            None => Library::open(OsStr::new(NAME)),
            Some(path) => Library::open(&path).map_err(|error| format!("{CHOSEN}: {error}")),
        }
    }

    fn open(file: &OsStr) -> Result<Self, String> {
        // SAFETY: what runs when libfabric is loaded are its initializers, which ask nothing of
        // who loads it.
        let library = unsafe { libloading::Library::new(file) };
        // Its providers have threads, which must not find it gone: it is never unloaded.
        let library = ManuallyDrop::new(library.map_err(|error| error.to_string())?);
        // SAFETY: these are the types of these functions in all versions.
        unsafe {
            let version: unsafe extern "C" fn() -> u32 = symbol(&library, c"fi_version")?;
            Ok(Library {
                get_info: symbol(&library, c"fi_getinfo")?,
                free_info: symbol(&library, c"fi_freeinfo")?,
                fabric: symbol(&library, c"fi_fabric")?,
                error_text: symbol(&library, c"fi_strerror")?,
                version: version(),
            })
        }
    }

    /// Its version: `1.17`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.version >> 16, self.version & 0xffff)
    }

    /// The reliable datagram endpoints that it has: of this provider or of all, at this address of
    /// the host or at any, with tags beside or not.
    ///
    /// # Errors
    /// [`FabricError::Call`] if it has none.
    pub fn offers(
        &'static self,
        provider: Option<&str>,
        at: Option<IpAddr>,
        with_tags: bool,
    ) -> Result<Offers, FabricError> {
        let provider = provider.map(CString::new).transpose();
        let provider =
            provider.map_err(|_| FabricError::NoProvider("a name with a zero".into()))?;
        let node = at.map(|ip| CString::new(ip.to_string()).unwrap_or_default());
        let node_at = node.as_ref().map_or(ptr::null(), |node| node.as_ptr());
        let mut hints = Hints::new(provider.as_deref(), at, with_tags);
        let mut first = ptr::null_mut();
        let flags = if at.is_some() { flag::SOURCE } else { 0 };
        // SAFETY: the hints and the name outlive the call, which writes the start of a list that
        // is ours.
        let code = unsafe {
            (self.get_info)(VERSION, node_at, ptr::null(), flags, hints.info(), &raw mut first)
        };
        self.check("fi_getinfo", code as isize)?;
        Ok(Offers { first, library: self })
    }

    /// Opens the fabric of an offer.
    pub fn open_fabric(&self, offer: &Offer<'_>) -> Result<*mut Fabric, FabricError> {
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes are the library's own.
        let code =
            unsafe { (self.fabric)((*offer.info).fabric_attr, &raw mut fabric, ptr::null_mut()) };
        self.check("fi_fabric", code as isize)?;
        Ok(fabric)
    }

    /// Success or the error that a function returned.
    pub fn check(&self, call: &'static str, code: isize) -> Result<(), FabricError> {
        self.succeeded(call, code).map_err(FabricError::Call)
    }

    /// Success or the error that a function returned which is called while the link works.
    pub fn succeeded(&self, call: &'static str, code: isize) -> Result<(), LibfabricError> {
        if code >= 0 { Ok(()) } else { Err(self.refusal(call, code)) }
    }

    /// Description of the error that a function returned.
    pub fn refusal(&self, call: &'static str, code: isize) -> LibfabricError {
        let code = i32::try_from(code.unsigned_abs()).unwrap_or(i32::MAX);
        // SAFETY: it returns a text that stays, whatever the number.
        let text = unsafe { CStr::from_ptr((self.error_text)(code)) };
        LibfabricError { call, code, text: text.to_string_lossy().into_owned() }
    }
}

/// # Safety
/// `T` is the type of the function with this name.
unsafe fn symbol<T: Copy>(library: &libloading::Library, name: &CStr) -> Result<T, String> {
    // SAFETY: the caller's.
    let found = unsafe { library.get::<T>(name.to_bytes_with_nul()) };
    found.map(|symbol| *symbol).map_err(|error| error.to_string())
}

/// List that `fi_getinfo` returned.
pub(crate) struct Offers {
    first: *mut Info,
    library: &'static Library,
}

impl Offers {
    /// All offers, the best of each provider first.
    pub fn iter(&self) -> impl Iterator<Item = Offer<'_>> {
        let next = |info: *mut Info| {
            // SAFETY: an entry of the list, which stays as long as `self`.
            Some(unsafe { (*info).next }).filter(|next| !next.is_null())
        };
        let first = Some(self.first).filter(|first| !first.is_null());
        std::iter::successors(first, move |info| next(*info)).map(|info| {
            // SAFETY: as above; complete entries have all parts.
            let parts = unsafe {
                let info = &*info;
                (info, info.tx_attr.as_ref(), info.rx_attr.as_ref(), info.domain_attr.as_ref())
            };
            let (of, Some(tx), Some(rx), Some(domain)) = parts else {
                unreachable!("fi_getinfo returns complete entries")
            };
            Offer { info, of, tx, rx, domain }
        })
    }
}

impl Drop for Offers {
    fn drop(&mut self) {
        // SAFETY: the list is ours, and offers borrow it.
        unsafe { (self.library.free_info)(self.first) };
    }
}

/// An offer of a provider.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub info: *mut Info,
    pub of: &'a Info,
    pub tx: &'a TxAttr,
    pub rx: &'a RxAttr,
    pub domain: &'a DomainAttr,
}

impl Offer<'_> {
    /// Name of the provider, with those that it is made of: `tcp;ofi_rxm`.
    pub fn provider(&self) -> String {
        // SAFETY: entries have a fabric's attributes, whose texts end with a zero.
        unsafe { (*self.info).fabric_attr.as_ref() }
            .map_or_else(String::new, |fabric| text(fabric.prov_name))
    }

    /// Name of the device, or of the network.
    pub fn domain_name(&self) -> String {
        text(self.domain.name)
    }

    /// Bytes of the longest message.
    pub fn message_bytes(&self) -> usize {
        // SAFETY: entries have an endpoint's attributes.
        unsafe { self.of.ep_attr.as_ref() }.map_or(0, |ep| ep.max_msg_size)
    }

    /// True if messages may have tags, by which receives tell them apart.
    pub fn has_tags(&self) -> bool {
        self.of.caps & flag::TAGGED != 0
    }

    /// True if its addresses are those of IP.
    pub fn is_on_ip(&self) -> bool {
        let formats = [address::SOCKADDR, address::SOCKADDR_IN, address::SOCKADDR_IN6];
        formats.contains(&self.of.addr_format)
    }
}

/// Text of the library's, or none.
fn text(of: *const c_char) -> String {
    if of.is_null() {
        return String::new();
    }
    // SAFETY: texts of an offer end with a zero and stay as long as it.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

/// One of the layouts, with zeros behind it.
#[repr(C)]
struct Padded<T> {
    part: T,
    behind: [u8; BEHIND],
}

impl<T> Padded<T> {
    /// # Safety
    /// Zeros are a `T`.
    unsafe fn new() -> Box<Self> {
        // SAFETY: the caller's, for `part`; bytes may be zero.
        unsafe { Box::new(std::mem::zeroed()) }
    }
}

/// Properties that are asked for.
struct Hints {
    info: Box<Padded<Info>>,
    tx: Box<Padded<TxAttr>>,
    rx: Box<Padded<RxAttr>>,
    ep: Box<Padded<EpAttr>>,
    domain: Box<Padded<DomainAttr>>,
    fabric: Box<Padded<FabricAttr>>,
}

impl Hints {
    fn new(provider: Option<&CStr>, at: Option<IpAddr>, with_tags: bool) -> Self {
        // SAFETY: the layouts are numbers and pointers, which may be zero and null.
        let mut hints = unsafe {
            Hints {
                info: Padded::new(),
                tx: Padded::new(),
                rx: Padded::new(),
                ep: Padded::new(),
                domain: Padded::new(),
                fabric: Padded::new(),
            }
        };
        let info = &mut hints.info.part;
        let tagged = if with_tags { flag::TAGGED } else { 0 };
        info.caps = flag::MSG | flag::SEND | flag::RECV | tagged;
        info.mode = mode::CONTEXT | mode::CONTEXT2;
        info.addr_format = match at {
            None => 0,
            Some(IpAddr::V4(_)) => address::SOCKADDR_IN,
            Some(IpAddr::V6(_)) => address::SOCKADDR_IN6,
        };
        hints.tx.part.msg_order = ORDER_SAS;
        hints.rx.part.msg_order = ORDER_SAS;
        hints.ep.part.kind = EP_RDM;
        hints.domain.part.mr_mode = REGION_MODES;
        hints.domain.part.threading = THREAD_DOMAIN;
        hints.domain.part.resource_mgmt = RM_ENABLED;
        let name = provider.map_or(ptr::null_mut(), |name| name.as_ptr().cast_mut());
        hints.fabric.part.prov_name = name;
        hints
    }

    /// All of it, for as long as `self` and the provider's name are.
    fn info(&mut self) -> *const Info {
        let info = &mut self.info.part;
        info.tx_attr = &raw mut self.tx.part;
        info.rx_attr = &raw mut self.rx.part;
        info.ep_attr = &raw mut self.ep.part;
        info.domain_attr = &raw mut self.domain.part;
        info.fabric_attr = &raw mut self.fabric.part;
        &raw const *info
    }
}
