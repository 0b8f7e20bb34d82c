//! Choice of the provider.

use crate::endpoint::{Endpoint, Sizes};
use crate::error::FabricError;
use crate::library::{Library, Offer};
use std::net::IpAddr;
use weft_wire::{atomic, envelope, network};

/// Providers of ordinary networks, for which Weft has links of its own; and the first words of
/// what is made of them.
const ORDINARY: [&str; 4] = ["tcp", "udp", "sockets", "net"];
/// Providers within one host.
const ONE_HOST: [&str; 2] = ["shm", "sm2"];
/// Provider whose endpoints take names, and how these begin.
const NAMED: &str = "shm";
const NAMED_PREFIX: &str = "fi_shm://";
/// Weft's own provider.
const OWN: &str = "weft";
/// Bytes of a datagram: nearly as many as a packet can have (`Header::size`), because each costs
/// the provider a send and a completion, and the link a look.
const DATAGRAM_BYTES: usize = 65_528;
/// Bytes of a place: places begin in different sets of a cache, which a power of two would not do.
const PLACE_BYTES: usize = DATAGRAM_BYTES.next_multiple_of(64) + 64;
/// Places lent to the provider for arrivals, at most.
const POSTED: usize = 64;

/// Reason for which a provider is taken without being named, or is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is for hardware of its own.
    Hardware,
    /// It uses an ordinary network: udp and xdp do that with less between.
    Ordinary,
    /// It joins ranks of one host: so does shm.
    OneHost,
    /// It is Weft itself.
    Weft,
}

impl Standing {
    fn of(provider: &str) -> Self {
        let layers: Vec<&str> = provider.split(';').collect();
        let has = |names: &[&str]| layers.iter().any(|layer| names.contains(layer));
        match () {
            () if has(&[OWN]) => Standing::Weft,
            () if has(&ORDINARY) => Standing::Ordinary,
            () if has(&ONE_HOST) => Standing::OneHost,
            () => Standing::Hardware,
        }
    }

    /// Explanation of the choice.
    pub fn why(self) -> &'static str {
        match self {
            Standing::Hardware => "hardware of its own: taken",
            Standing::Ordinary => {
                "an ordinary network: taken if named, because udp and xdp have less between"
            }
            Standing::OneHost => "one host: taken if named, because shm has less between",
            Standing::Weft => "weft itself: never taken",
        }
    }
}

/// Provider with reliable datagrams in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundProvider {
    /// Its name, with those that it is made of: `tcp;ofi_rxm`.
    pub name: String,
    /// Names of its devices or networks.
    pub domains: Vec<String>,
    /// Reason for which it is taken, or is not.
    pub standing: Standing,
}

/// Version of libfabric: `1.17`.
///
/// # Errors
/// There is none.
pub fn library_version() -> Result<String, FabricError> {
    Ok(Library::get()?.version())
}

/// The providers that could carry packets, those first that libfabric prefers.
///
/// # Errors
/// There is no libfabric, or it has none.
pub fn providers() -> Result<Vec<FoundProvider>, FabricError> {
    let offers = Library::get()?.offers(None, None, false)?;
    let mut all: Vec<FoundProvider> = Vec::new();
    for offer in offers.iter() {
        let (name, domain) = (offer.provider(), offer.domain_name());
        match all.iter_mut().find(|found| found.name == name) {
            Some(found) if found.domains.contains(&domain) => {}
            Some(found) => found.domains.push(domain),
            None => {
                let standing = Standing::of(&name);
                all.push(FoundProvider { name, domains: vec![domain], standing });
            }
        }
    }
    Ok(all)
}

/// The provider that carries a job which named none: the first that is for hardware of its own.
pub fn with_hardware(found: &[FoundProvider]) -> Option<&FoundProvider> {
    found.iter().find(|provider| provider.standing == Standing::Hardware)
}

/// A provider's endpoint, which knows no other yet.
pub struct Chosen {
    /// Name of the provider.
    pub provider: String,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Bytes of a datagram at most.
    pub datagram_bytes: usize,
    /// Places to lend to the provider for arrivals.
    pub posted: usize,
}

impl Chosen {
    /// Opens an endpoint of the provider with this name, or else of the best one for hardware of
    /// its own: at this address of the host, if its network is IP, and under this name, if it takes
    /// names. Its places suffice for as many datagrams.
    ///
    /// # Errors
    /// There is none, or it fails.
    pub fn open(
        provider: Option<&str>,
        at: IpAddr,
        ranks: u16,
        places: usize,
        name: &str,
    ) -> Result<Self, FabricError> {
        let library = Library::get()?;
        let open = |offer: &Offer<'_>| Chosen::of(library, offer, ranks, places, name);
        // What is on IP has an address of its own for each network; and what has no tags is taken
        // where nothing has any.
        for with_tags in [true, false] {
            for place in [Some(at), None] {
                let Ok(offers) = library.offers(provider, place, with_tags) else { continue };
                let is_one = |offer: &Offer<'_>| {
                    takes(offer, provider) && (place.is_none() || offer.is_on_ip())
                };
                if let Some(offer) = offers.iter().find(is_one) {
                    return open(&offer);
                }
            }
        }
        Err(none(provider))
    }

    fn of(
        library: &'static Library,
        offer: &Offer<'_>,
        ranks: u16,
        places: usize,
        name: &str,
    ) -> Result<Self, FabricError> {
        let (provider, bytes) = (offer.provider(), offer.message_bytes());
        let datagram_bytes = DATAGRAM_BYTES.min(bytes);
        if datagram_bytes < envelope::SIZE + network::SIZE + atomic::WORDS_BYTES + 512 {
            return Err(FabricError::Short { provider, bytes });
        }
        let posted = POSTED.min(offer.rx.size).max(1);
        let sizes =
            Sizes { place_bytes: PLACE_BYTES, places: places + posted, ranks: ranks.into() };
        // Those have files in /dev/shm, which are known by it.
        let name = (provider == NAMED).then(|| format!("{NAMED_PREFIX}{name}"));
        let endpoint = Endpoint::open(library, offer, sizes, name.as_deref())?;
        Ok(Chosen { provider, endpoint, datagram_bytes, posted })
    }
}

/// True if an offer may be taken.
fn takes(offer: &Offer<'_>, provider: Option<&str>) -> bool {
    match (Standing::of(&offer.provider()), provider) {
        (Standing::Weft, _) => false,
        (standing, None) => standing == Standing::Hardware,
        (_, Some(_)) => true,
    }
}

fn none(provider: Option<&str>) -> FabricError {
    match provider {
        Some(name) => FabricError::NoProvider(format!("\"{name}\"")),
        None => FabricError::OnlyOrdinary,
    }
}

#[cfg(test)]
mod tests;
