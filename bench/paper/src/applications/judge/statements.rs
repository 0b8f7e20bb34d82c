//! Statements about applications: orders, findings and ratios of 8.4 to 8.6.

use super::{CLASSES, Row, is_near, number, slowdown, slowdowns, speedup, varied};
use crate::Targets;
use crate::applications::model::{PRESETS, Variation};
use crate::applications::observe::Kind;
use crate::applications::study::Study;
use anyhow::Result;
use weft_bench::suite::Application::{self, *};
use weft_simulator::Preset::{self, HrxHmc, IrxHmc, IrxImc, NrxHmc, NrxImc};

/// Difference that is none, in percent.
const NOTHING: f64 = 3.0;
/// Difference that is large, in percent.
const LARGE: f64 = 10.0;
/// Collector of rows about a study.
struct Rows<'a> {
    study: &'a Study,
    targets: &'a Targets,
    rows: Vec<Row>,
}

/// Rows of statements.
pub fn statements(study: &Study, targets: &Targets) -> Result<Vec<Row>> {
    let mut rows = Rows { study, targets, rows: Vec::new() };
    rows.systems()?;
    rows.efficiencies()?;
    rows.rates()?;
    rows.messages()?;
    rows.objects()?;
    rows.regions()?;
    rows.puzzle()?;
    rows.classes()?;
    rows.conclusions()?;
    Ok(rows.rows)
}

impl Rows<'_> {
    fn add(&mut self, id: &str, holds: bool, measured: impl Into<String>) {
        self.rows.push(Row { id: id.into(), measured: measured.into(), holds });
    }

    fn slower(&self, application: Application, preset: Preset) -> Result<f64> {
        self.study.slower(application, preset)
    }

    fn rate(&self, application: Application, kind: Kind) -> Result<(f64, f64)> {
        let seen = self.study.seen(application, NrxImc, Variation::Usual)?;
        Ok(seen.rate(kind, self.study.extent.ranks))
    }

    fn systems(&mut self) -> Result<()> {
        let of = |preset| self.study.seen(Barnes, preset, Variation::Usual);
        let (hrx, nrx) = (of(HrxHmc)?.acknowledgements(), of(NrxImc)?.acknowledgements());
        let times = hrx as f64 / nrx.max(1) as f64;
        let paper = number(self.targets, "S8.4.1-barnes-acks")?;
        let holds = is_near(times, paper);
        self.add("S8.4.1-barnes-acks", holds, format!("{times:.0} ({hrx} against {nrx})"));

        let careful = self.study.all().filter(|(cell, _)| !cell.preset.retransmits());
        let late: u64 = careful.map(|(_, seen)| seen.late_acknowledgements).sum();
        self.add("S8.4.1-delayed", late == 0, format!("{late}"));

        let mut parts = Vec::new();
        for application in [Barnes, Fft, Radix] {
            let seen = self.study.seen(application, NrxImc, Variation::Usual)?;
            let [unicast, multicast, acknowledgements, _] = seen.rates.packets;
            parts.push(100.0 * acknowledgements as f64 / (unicast + multicast) as f64);
        }
        let holds = parts.iter().all(|part| *part < LARGE);
        let [barnes, fft, radix] = parts[..] else { unreachable!("three applications") };
        let measured =
            format!("of 100 data packets {barnes:.1} (Barnes), {fft:.1} (FFT), {radix:.1} (Radix)");
        self.add("S8.4.1-crl-acks", holds, measured);

        let bytes = |application| -> Result<f64> {
            let (packets, bytes) = self.rate(application, Kind::Unicast)?;
            Ok(bytes / packets)
        };
        let (barnes, radix) = (bytes(Barnes)?, bytes(Radix)?);
        let measured = format!("{barnes:.0} bytes a packet (Barnes), {radix:.0} (Radix)");
        self.add("S8.4.1-crl-lat", barnes < 512.0 && radix < 512.0, measured);

        for (id, application) in [("S8.4.1-asp", Asp), ("S8.4.1-qr", Qr)] {
            let slower = varied(self.study, application, NrxImc, Variation::Tree)?;
            let holds = is_near(slower, number(self.targets, id)?);
            self.add(id, holds, format!("{slower:.1} %"));
        }
        Ok(())
    }

    fn efficiencies(&mut self) -> Result<()> {
        let ranks = f64::from(self.study.extent.ranks);
        let efficiency = |one: Application| -> Result<(Application, f64)> {
            Ok((one, speedup(self.study, one, self.targets)? / ranks))
        };
        let all = self.study.applications().map(efficiency).collect::<Result<Vec<_>>>()?;
        let good: Vec<_> = all.iter().filter(|(_, efficiency)| *efficiency >= 0.5).collect();
        let least = good.iter().map(|(_, efficiency)| *efficiency).fold(f64::INFINITY, f64::min);
        let named = good.iter().map(|(one, _)| one.title()).collect::<Vec<_>>().join(", ");
        let holds = good.len() as f64 == number(self.targets, "S8.5.1-eff")?;
        self.add("S8.5.1-eff", holds, format!("{} ({named})", good.len()));
        self.add("S8.5.1-effmin", least >= 0.5, format!("{:.0} %", 100.0 * least));
        let of = |one| all.iter().find(|(other, _)| *other == one).map_or(0.0, |found| found.1);
        let worst = all.iter().all(|(_, efficiency)| *efficiency >= of(Radix));
        let best = all.iter().all(|(_, efficiency)| *efficiency <= of(Asp));
        let measured = format!("Radix {:.2}, ASP {:.2}", of(Radix), of(Asp));
        self.add("S8.5.1-speed", worst && best && of(Asp) > 1.0, measured);

        let mut fastest = (f64::INFINITY, String::new());
        let mut slow = 0;
        for one in self.study.applications() {
            for preset in &PRESETS[1..5] {
                let slower = self.slower(one, *preset)?;
                slow += usize::from(slower > NOTHING);
                if slower < fastest.0 {
                    fastest = (slower, format!("{} on {preset}", one.title()));
                }
            }
        }
        let measured = format!("{slow} of 40 slower; fastest {:+.1} % ({})", fastest.0, fastest.1);
        self.add("S8.5.1-best", fastest.0 > -1.0, measured);
        Ok(())
    }

    fn rates(&mut self) -> Result<()> {
        let [barnes, radix, sor] = [Barnes, Radix, Sor].map(|one| self.rate(one, Kind::Unicast));
        let (barnes, radix, sor) = (barnes?, radix?, sor?);
        let holds = match self.study.inputs.high_rates() {
            // Packets and bytes are many or few by themselves.
            Some((packets, bytes)) => {
                let high = |rate: (f64, f64)| (rate.0 >= packets, rate.1 >= bytes);
                [
                    high(barnes) == (true, false),
                    high(radix) == (true, true),
                    high(sor) == (false, true),
                ]
            }
            None => [
                barnes.0 > 2.0 * sor.0 && 2.0 * barnes.1 < sor.1,
                radix.0 > 2.0 * sor.0 && radix.1 > 2.0 * barnes.1,
                2.0 * sor.0 < barnes.0 && sor.1 > 2.0 * barnes.1,
            ],
        };
        let rows = [
            ("S8.5.1-rates-barnes", barnes, holds[0]),
            ("S8.5.1-rates-radix", radix, holds[1]),
            ("S8.5.1-rates-sor", sor, holds[2]),
        ];
        for (id, rate, holds) in rows {
            let measured = format!("{:.0} packets, {:.2} Mbyte a second", rate.0, rate.1 / 1e6);
            self.add(id, holds, measured);
        }
        let (mut most, mut named) = (0.0, "");
        for one in self.study.applications() {
            let (_, bytes) = self.rate(one, Kind::Unicast)?;
            if bytes > most {
                (most, named) = (bytes, one.title());
            }
        }
        self.add("S8.5.9-rate", named == "Radix", format!("{named}, {:.2} Mbyte/s", most / 1e6));
        let (mut four, mut many) = (0.0, 0.0);
        for kind in [Kind::Unicast, Kind::Acknowledgement] {
            four += self.rate(Puzzle4, kind)?.0;
            many += self.rate(Puzzle64, kind)?.0;
        }
        let measured = format!("{many:.0} against {four:.0} packets a second");
        self.add("S8.4.2-combine", many < 0.7 * four, measured);
        Ok(())
    }

    /// True if each of `slow` takes longer than each of `fast`, by so many percent of the default.
    fn is_slower(
        &self,
        application: Application,
        fast: &[Preset],
        slow: &[Preset],
        by: f64,
    ) -> Result<bool> {
        let of = |preset: &Preset| self.slower(application, *preset);
        let fast = fast.iter().map(of).collect::<Result<Vec<_>>>()?;
        let slow = slow.iter().map(of).collect::<Result<Vec<_>>>()?;
        let most = fast.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Ok(slow.into_iter().fold(f64::INFINITY, f64::min) > most + by)
    }

    fn order(&mut self, id: &str, application: Application, steps: &[&[Preset]]) -> Result<()> {
        let mut holds = true;
        for pair in steps.windows(2) {
            holds &= self.is_slower(application, pair[0], pair[1], 0.0)?;
        }
        self.add(id, holds, slowdowns(self.study, application)?);
        Ok(())
    }

    fn messages(&mut self) -> Result<()> {
        let (by_ni, by_host) = ([NrxImc, IrxImc], [NrxHmc, IrxHmc, HrxHmc]);
        self.order("S8.5.2-order", Asp, &[&by_ni, &by_host])?;
        let (mut holds, mut measured) = (true, Vec::new());
        for preset in by_host {
            let without = varied(self.study, Asp, preset, Variation::NoPolls)?;
            let with = self.slower(Asp, preset)?;
            holds &= with < without;
            measured.push(format!("{preset} {without:+.1} % without, {with:+.1} % with"));
        }
        holds &= self.is_slower(Asp, &by_ni, &by_host, 0.0)?;
        self.add("S8.5.2-poll", holds, measured.join(", "));
        self.order("S8.5.8-order", Qr, &[&by_ni, &by_host])?;

        self.order("S8.5.10-order", Sor, &[&[NrxImc, NrxHmc, IrxImc, IrxHmc], &[HrxHmc]])?;
        let others = [NrxHmc, IrxImc, IrxHmc].map(|preset| self.slower(Sor, preset));
        let others = others.into_iter().collect::<Result<Vec<_>>>()?;
        let holds = others.iter().all(|slower| *slower < NOTHING);
        self.add("S8.5.10-ni", holds, slowdowns(self.study, Sor)?);
        let (usual, turns) =
            (self.slower(Sor, HrxHmc)?, varied(self.study, Sor, HrxHmc, Variation::Pairs)?);
        let measured = format!("hrx-hmc {usual:+.1} % at once, {turns:+.1} % by pairs");
        self.add("S8.5.10-fix", turns < usual - 1.0, measured);
        Ok(())
    }

    fn objects(&mut self) -> Result<()> {
        self.order("S8.5.3-order", Awari, &[&[NrxImc, NrxHmc], &[HrxHmc], &[IrxImc, IrxHmc]])?;
        let [unicast, multicast, ..] =
            self.study.seen(Awari, NrxImc, Variation::Usual)?.rates.packets;
        let part = 100.0 * multicast as f64 / (unicast + multicast) as f64;
        let measured = format!("{part:.1} % of data packets are broadcast");
        self.add("S8.5.3-rpc", part < LARGE, measured);
        let slower = slowdowns(self.study, Leq)?;
        let worst = self.is_slower(Leq, &[NrxImc, NrxHmc, IrxImc, IrxHmc], &[HrxHmc], 0.0)?;
        self.add("S8.5.6-hrx", worst, slower.clone());
        let costs = self.is_slower(Leq, &[NrxImc, NrxHmc], &[IrxImc, IrxHmc, HrxHmc], 0.0)?;
        self.add("S8.5.6-cost", costs, slower);
        Ok(())
    }

    fn regions(&mut self) -> Result<()> {
        self.order("S8.5.4-order", Barnes, &[&[NrxImc, NrxHmc], &[HrxHmc], &[IrxImc, IrxHmc]])?;
        self.order("S8.5.9-order", Radix, &[&[NrxImc, NrxHmc], &[HrxHmc], &[IrxImc, IrxHmc]])?;
        let fft = PRESETS[1..5].iter().map(|preset| self.slower(Fft, *preset));
        let fft = fft.collect::<Result<Vec<_>>>()?;
        let small = fft.iter().all(|slower| *slower < LARGE);
        let holds =
            small && self.is_slower(Fft, &[NrxImc, NrxHmc], &[IrxImc, IrxHmc, HrxHmc], 0.0)?;
        self.add("S8.5.5-order", holds, slowdowns(self.study, Fft)?);
        let waits = [IrxImc, IrxHmc, HrxHmc].map(|preset| {
            let seen = self.study.seen(Fft, preset, Variation::Usual)?;
            Ok::<_, anyhow::Error>(seen.traffic.blocked_sends)
        });
        let waits = waits.into_iter().sum::<Result<u64>>()?;
        self.add("S8.5.5-isb", waits == 0, format!("{waits} sends waited"));
        let (mut holds, mut measured) = (true, Vec::new());
        for preset in [IrxImc, HrxHmc] {
            let usual = self.slower(Fft, preset)?;
            let late = varied(self.study, Fft, preset, Variation::LateAcknowledgements)?;
            let seen = self.study.seen(Fft, preset, Variation::LateAcknowledgements)?;
            holds &= late <= usual;
            measured.push(format!(
                "{preset} {usual:+.1} %, then {late:+.1} % and {} acknowledgements",
                seen.acknowledgements()
            ));
        }
        self.add("S8.5.5-timeout", holds, measured.join(", "));
        let seen = self.study.seen(Radix, NrxImc, Variation::Usual)?;
        let most = seen.most_full + 1;
        let [unicast, ..] = seen.rates.packets;
        let bytes = seen.rates.bytes[Kind::Unicast as usize] as f64 / unicast as f64;
        let measured = format!("{most} at most; {bytes:.0} bytes a packet");
        self.add("S8.5.9-pkts", most == 2, measured);
        Ok(())
    }

    fn puzzle(&mut self) -> Result<()> {
        let mut holds = true;
        for one in [Puzzle4, Puzzle64] {
            holds &= self.is_slower(one, &[NrxImc, NrxHmc, IrxImc, IrxHmc], &[HrxHmc], 0.0)?;
        }
        let both = format!(
            "Puzzle-4: {}; Puzzle-64: {}",
            slowdowns(self.study, Puzzle4)?,
            slowdowns(self.study, Puzzle64)?
        );
        self.add("S8.5.7-order", holds, both.clone());
        let (four, many) = (self.slower(Puzzle4, HrxHmc)?, self.slower(Puzzle64, HrxHmc)?);
        self.add("S8.5.7-size", four > many, both);
        let gain = |preset| -> Result<f64> {
            let seconds = |one| self.study.seconds(one, preset);
            Ok(100.0 * (1.0 - seconds(Puzzle64)? / seconds(Puzzle4)?))
        };
        let (nrx, hrx) = (gain(NrxImc)?, gain(HrxHmc)?);
        let measured = format!("{nrx:.1} % on nrx-imc, {hrx:.1} % on hrx-hmc");
        self.add("S8.4.2-combine-gain", hrx > nrx, measured);
        Ok(())
    }

    fn classes(&mut self) -> Result<()> {
        let [roundtrip, multicast, one_way] = CLASSES;
        let most = |applications: &[Application], presets: &[Preset]| -> Result<f64> {
            let pairs = applications.iter().flat_map(|one| presets.iter().map(move |p| (one, p)));
            pairs
                .map(|(one, preset)| self.study.slower(*one, *preset))
                .try_fold(0.0, |most: f64, next| Ok(most.max(next?)))
        };
        let figures = [
            ("S8.6-rt-hrx", most(roundtrip.applications, &[HrxHmc])?),
            ("S8.6-rt-irx", most(roundtrip.applications, &[IrxImc, IrxHmc])?),
            ("S8.6-mc", most(multicast.applications, &[NrxHmc, IrxHmc, HrxHmc])?),
            ("S8.6-ow", most(one_way.applications, &[HrxHmc])?),
        ];
        for (id, slower) in figures {
            self.up_to(id, slower)?;
        }
        // The same facts, said again.
        self.up_to("S9.1-38", figures[2].1)?;
        self.up_to("S9.4-16", figures[1].1)?;
        self.up_to("S9.4-38", figures[2].1)?;
        let of = |preset| slowdown(self.study, &roundtrip, preset);
        let (nrx, hrx, irx) = (of(NrxHmc)?, of(HrxHmc)?, of(IrxImc)?);
        let measured = format!("nrx-hmc {nrx:+.1} %, hrx-hmc {hrx:+.1} %, irx-imc {irx:+.1} %");
        self.add("S8.6-rt-logp", nrx < hrx && hrx < irx, measured);
        let rest = |one: Application| slowdowns(self.study, one);
        let measured = format!("FFT: {}; LEQ: {}; SOR: {}", rest(Fft)?, rest(Leq)?, rest(Sor)?);
        let small = self.slower(Fft, IrxImc)? < LARGE && self.slower(Sor, NrxHmc)? < NOTHING;
        self.add("S8.6-rest", small, measured);

        // Bare round trips differ by so much (table 8.5); applications by less.
        let bare =
            100.0 * (number(self.targets, "T8.5-hrx")? / number(self.targets, "T8.5-nrx")? - 1.0);
        let largest = self.study.applications().map(|one| self.slower(one, HrxHmc));
        let largest = largest.collect::<Result<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
        let measured = format!(
            "hrx-hmc at most {largest:.0} %, where bare round trips are {bare:.0} % longer"
        );
        self.add("S8.4.2-dampen", largest < bare, measured);
        // Latency that is the NI's is hidden where others' requests are served meanwhile.
        let (barnes, radix) = (self.slower(Barnes, IrxImc)?, self.slower(Radix, IrxImc)?);
        let latency =
            100.0 * (number(self.targets, "T8.5-irx")? / number(self.targets, "T8.5-nrx")? - 1.0);
        let measured = format!(
            "irx-imc {barnes:+.1} % (Barnes), {radix:+.1} % (Radix), where bare round trips are {latency:.0} % longer"
        );
        self.add("S8.4.2-hide", barnes < latency && radix < latency, measured);
        Ok(())
    }

    /// A figure that the thesis has with "up to": the largest one is that large.
    fn up_to(&mut self, id: &str, slower: f64) -> Result<()> {
        let paper = number(self.targets, id)?;
        self.add(id, is_near(slower, paper), format!("{slower:.1} %"));
        Ok(())
    }

    /// Chapter 9's and 8.8's: of classes, by their means.
    fn conclusions(&mut self) -> Result<()> {
        let mean = |class: usize, preset| slowdown(self.study, &CLASSES[class], preset);
        let all = |class| -> Result<(Vec<f64>, String)> {
            let others = [NrxHmc, IrxImc, IrxHmc, HrxHmc];
            let slower = others.map(|preset| mean(class, preset));
            let slower = slower.into_iter().collect::<Result<Vec<_>>>()?;
            let named = others.iter().zip(&slower);
            let named = named.map(|(preset, slower)| format!("{preset} {slower:+.1} %"));
            let named = named.collect::<Vec<_>>().join(", ");
            Ok((slower, named))
        };
        let [(roundtrip, first), (multicast, second), (one_way, third)] =
            [all(0)?, all(1)?, all(2)?];
        let ni = roundtrip[1].min(roundtrip[2]);
        let careful = roundtrip[0].max(0.0);
        let holds = careful < roundtrip[3] && roundtrip[3] < ni;
        self.add("S8.8-rt", holds, first.clone());
        let by_host = multicast[0].min(multicast[2]).min(multicast[3]);
        self.add("S8.8-mc", multicast[1] < by_host, second.clone());
        let well = one_way[..3].iter().all(|slower| *slower < NOTHING) && one_way[3] >= NOTHING;
        self.add("S8.8-ow", well, third.clone());
        let every = [roundtrip, multicast, one_way];
        let best = every.iter().flatten().all(|slower| *slower > -1.0);
        let classes = format!("roundtrip {first}; multicast {second}; one-way {third}");
        self.add("S8.8-best", best, classes.clone());
        let worst = every.iter().all(|slower| slower[..3].iter().all(|other| *other < slower[3]));
        self.add("S9.5-host", worst, classes);
        let most =
            self.study.applications().flat_map(|one| PRESETS[1..5].iter().map(move |p| (one, *p)));
        let most = most.map(|(one, preset)| self.slower(one, preset));
        let most = most.collect::<Result<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
        self.add("S8.8-apps", most >= LARGE, format!("up to {most:.1} %"));
        let (four, many) = (self.slower(Puzzle4, HrxHmc)?, self.slower(Puzzle64, HrxHmc)?);
        let measured =
            format!("hrx-hmc {four:+.1} % with 4 jobs in a message, {many:+.1} % with 64");
        self.add("S9.4-puzzle", many < four, measured);
        Ok(())
    }
}
