//! Options of the protocols that a benchmark has, as `weft run` has them.

use clap::Args;
use weft_endpoint::{Preset, Shape};
use weft_launch::{BulkWish, JobSpec};

/// Choices of protocols. What is not given is as users get it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Protocols")]
pub struct Protocols {
    /// The protocol [default: the link's]
    #[arg(long, value_name = "NAME")]
    preset: Option<Preset>,
    /// Packets that a rank may have under way to another one, a power of two
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u16).range(1..))]
    pub window: Option<u16>,
    /// The shape of multicast trees [flat, binary, binomial, chain or relay]
    #[arg(long, value_name = "SHAPE")]
    tree: Option<Shape>,
    /// Between namespaces: the network loses nothing, so that careful presets may run
    #[arg(long)]
    lossless: bool,
    /// Between hosts: the way of long packets [default: auto]
    #[arg(long, value_parser = ["auto", "tcp", "datagrams"])]
    bulk: Option<String>,
    /// Between namespaces: this share of Weft's frames is lost on the way, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub loss: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if (0.0..1.0).contains(&share) { Ok(share) } else { Err("a share is from 0 to 1".into()) }
}

impl Protocols {
    /// Way of long packets, if one was asked for.
    pub fn bulk(&self) -> Option<BulkWish> {
        self.bulk.as_deref().map(|name| match name {
            "datagrams" => BulkWish::Datagrams,
            "tcp" => BulkWish::Tcp,
            _ => BulkWish::Auto,
        })
    }

    /// Tells the ranks of `job`.
    pub fn choose(&self, job: &mut JobSpec) {
        let options = [
            ("preset", self.preset.map(|preset| preset.to_string())),
            ("tree", self.tree.map(|tree| tree.to_string())),
            ("lossless", self.lossless.then(|| "true".to_owned())),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
        job.options.extend(given);
        let otherwise = if self.lossless { BulkWish::Datagrams } else { BulkWish::Auto };
        job.bulk = match self.bulk() {
            Some(BulkWish::Tcp) if self.lossless => BulkWish::Datagrams,
            Some(BulkWish::Auto) | None => otherwise,
            Some(bulk) => bulk,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_a_part_of_one() {
        assert_eq!(share("0"), Ok(0.0));
        assert_eq!(share("0.01"), Ok(0.01));
        assert!(share("1").is_err() && share("-0.1").is_err());
        assert_eq!(share("some"), Err("'some' is no number".into()));
    }
}
