//! How much of the device and of host memory the drafters may take, and how much they do.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::size::ByteSize;
use crate::error::{Error, Result};
use crate::llama::MemoryBreakdown;

/// How long a load may take unless asked otherwise.
pub const DEFAULT_LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// What happens in a round whose drafter is not in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SwapMode {
    /// It is loaded meanwhile; the round goes on with a drafter that is there, or without one.
    #[default]
    Async,
    /// The round waits for it.
    Sync,
}

impl FromStr for SwapMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "async" => Ok(Self::Async),
            "sync" => Ok(Self::Sync),
            _ => Err(Error::invalid(format!(
                "unknown swap mode \"{}\"; it must be async or sync",
                text.escape_debug()
            ))),
        }
    }
}

impl fmt::Display for SwapMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Async => "async",
            Self::Sync => "sync",
        })
    }
}

/// How much memory the drafters may take, and what happens when that is not enough for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidencyParams {
    /// The most bytes of device memory for drafters that are ready to draft: weights, KV cache and
    /// compute buffers. Where there is no device but the CPU, of host memory.
    pub vram_budget: Option<ByteSize>,
    /// The most bytes of host memory for the weights and KV caches of drafters that are not ready,
    /// and for what those that are ready have there beside the device. `None` for as much as it
    /// takes where the device has memory of its own, and for nothing where it has not.
    pub ram_budget: Option<ByteSize>,
    /// The most drafters with weights that are ready at once.
    pub max_resident: Option<usize>,
    /// What happens in a round whose drafter is not ready.
    pub swap: SwapMode,
    /// A drafter whose load takes longer leaves the pool.
    pub load_timeout: Duration,
    /// The names of drafters that are always ready.
    pub pins: Vec<String>,
    /// Whether the device has memory of its own
    /// ([`has_device_memory`](crate::llama::has_device_memory)), which drafters are loaded into.
    pub separate_device: bool,
}

impl Default for ResidencyParams {
    fn default() -> Self {
        Self {
            vram_budget: None,
            ram_budget: None,
            max_resident: None,
            swap: SwapMode::default(),
            load_timeout: DEFAULT_LOAD_TIMEOUT,
            pins: Vec::new(),
            separate_device: false,
        }
    }
}

impl ResidencyParams {
    /// Whether it sets a limit, without which every drafter stays ready.
    pub fn is_limited(&self) -> bool {
        self.vram_budget.is_some() || self.max_resident.is_some()
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the field and
    /// what it must be.
    pub fn validate(&self) -> Result<()> {
        if self.vram_budget == Some(ByteSize(0)) {
            return Err(Error::invalid(
                "vram_budget is 0; it must hold at least one drafter, such as 512M, or be left out",
            ));
        }
        if self.max_resident == Some(0) {
            return Err(Error::invalid(
                "max_resident is 0; it must be at least 1, or be left out",
            ));
        }
        if self.load_timeout.is_zero() {
            return Err(Error::invalid(
                "load_timeout is 0; it must be above 0 seconds",
            ));
        }
        if !self.is_limited() && self.ram_budget.is_some() {
            return Err(Error::invalid(
                "ram_budget is for drafters that do not fit the device; give vram_budget or \
                 max_resident with it",
            ));
        }
        Ok(())
    }

    /// The most bytes of host memory.
    fn host_limit(&self) -> Option<u64> {
        match self.ram_budget {
            Some(budget) => Some(budget.0),
            None if self.separate_device => None,
            None => Some(0),
        }
    }

    /// What a ready drafter of `memory` takes of the device and of the host.
    pub(super) fn footprint(&self, memory: &MemoryBreakdown) -> Footprint {
        match self.separate_device {
            true => Footprint {
                device: memory.on_device,
                host: memory.total() - memory.on_device,
            },
            false => Footprint {
                device: memory.total(),
                host: 0,
            },
        }
    }
}

/// Bytes that a drafter which is ready takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    pub device: u64,
    pub host: u64,
}

impl Footprint {
    /// Whether it takes anything: an n-gram drafter does not, and is never in the way.
    pub(super) fn is_nothing(self) -> bool {
        self.device == 0 && self.host == 0
    }
}

/// The account of what is taken, against the limits.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    device_limit: Option<u64>,
    host_limit: Option<u64>,
    resident_limit: Option<usize>,
    device: u64,
    host: u64,
    residents: usize,
    device_peak: u64,
    host_peak: u64,
}

impl Ledger {
    pub(super) fn new(params: &ResidencyParams) -> Self {
        Self {
            device_limit: params.vram_budget.map(|budget| budget.0),
            host_limit: params.host_limit(),
            resident_limit: params.max_resident,
            ..Self::default()
        }
    }

    /// Whether a drafter of `footprint` may be ready beside what there is.
    pub(super) fn fits(&self, footprint: Footprint) -> bool {
        let residents = self.residents + usize::from(!footprint.is_nothing());
        within(
            self.device.saturating_add(footprint.device),
            self.device_limit,
        ) && self.fits_host(footprint.host)
            && self.resident_limit.is_none_or(|limit| residents <= limit)
    }

    /// Whether `bytes` more of host memory may be taken.
    pub(super) fn fits_host(&self, bytes: u64) -> bool {
        bytes == 0 || within(self.host.saturating_add(bytes), self.host_limit)
    }

    /// Whether what is taken keeps within the limits.
    pub(super) fn is_kept(&self) -> bool {
        self.fits(Footprint::default())
    }

    /// Enters a drafter that is or becomes ready.
    pub(super) fn charge(&mut self, footprint: Footprint) {
        self.residents += usize::from(!footprint.is_nothing());
        self.device += footprint.device;
        self.device_peak = self.device_peak.max(self.device);
        self.charge_host(footprint.host);
    }

    /// Takes out a drafter that was entered with the same footprint.
    pub(super) fn refund(&mut self, footprint: Footprint) {
        self.residents -= usize::from(!footprint.is_nothing());
        self.device -= footprint.device;
        self.refund_host(footprint.host);
    }

    /// Enters bytes of host memory.
    pub(super) fn charge_host(&mut self, bytes: u64) {
        self.host += bytes;
        self.host_peak = self.host_peak.max(self.host);
    }

    /// Takes out bytes of host memory.
    pub(super) fn refund_host(&mut self, bytes: u64) {
        self.host -= bytes;
    }

    /// The account for reports.
    pub(super) fn report(&self, swap: SwapMode) -> ResidencyReport {
        ResidencyReport {
            swap,
            vram_budget: self.device_limit,
            vram_used: self.device,
            vram_peak: self.device_peak,
            ram_budget: self.host_limit,
            ram_used: self.host,
            ram_peak: self.host_peak,
            max_resident: self.resident_limit,
            resident: self.residents,
        }
    }
}

fn within(bytes: u64, limit: Option<u64>) -> bool {
    limit.is_none_or(|limit| bytes <= limit)
}

/// What the drafters of a pool take against its limits; memory in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResidencyReport {
    /// What happens in a round whose drafter is not ready.
    pub swap: SwapMode,
    /// The limit on device memory; `null` for none.
    pub vram_budget: Option<u64>,
    /// Device memory taken now.
    pub vram_used: u64,
    /// The most that was taken at once.
    pub vram_peak: u64,
    /// The limit on host memory; `null` for none.
    pub ram_budget: Option<u64>,
    /// Host memory taken now.
    pub ram_used: u64,
    /// The most that was taken at once.
    pub ram_peak: u64,
    /// The limit on drafters that are ready at once; `null` for none.
    pub max_resident: Option<usize>,
    /// Drafters with weights that are ready now.
    pub resident: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn params(vram: u64, ram: u64, residents: usize) -> ResidencyParams {
        ResidencyParams {
            vram_budget: Some(ByteSize(vram)),
            ram_budget: Some(ByteSize(ram)),
            max_resident: Some(residents),
            ..ResidencyParams::default()
        }
    }

    fn footprint(device: u64, host: u64) -> Footprint {
        Footprint { device, host }
    }

    #[test]
    fn each_of_the_three_limits_holds_by_itself() {
        let mut ledger = Ledger::new(&params(100, 10, 2));
        ledger.charge(footprint(60, 5));
        assert!(ledger.fits(footprint(40, 5)));
        assert!(!ledger.fits(footprint(41, 0)));
        assert!(!ledger.fits(footprint(1, 6)));
        ledger.charge(footprint(1, 0));
        assert!(!ledger.fits(footprint(1, 0)));
        assert!(
            ledger.fits(footprint(0, 0)),
            "an n-gram drafter always fits"
        );
    }

    #[test]
    fn where_the_device_is_the_host_nothing_else_is_kept_there_unless_asked() {
        let mut limits = params(100, 0, 2);
        limits.ram_budget = None;
        assert!(!Ledger::new(&limits).fits_host(1));
        limits.separate_device = true;
        assert!(Ledger::new(&limits).fits_host(u64::MAX));
    }

    #[test]
    fn a_footprint_is_split_only_where_the_device_has_memory_of_its_own() {
        let memory = MemoryBreakdown {
            model: 10,
            context: 5,
            compute: 3,
            on_device: 12,
        };
        let mut limits = params(1, 1, 1);
        assert_eq!(limits.footprint(&memory), footprint(18, 0));
        limits.separate_device = true;
        assert_eq!(limits.footprint(&memory), footprint(12, 6));
    }

    #[test]
    fn limits_that_hold_nothing_are_refused_with_what_would_do() {
        let message = |params: ResidencyParams| params.validate().expect_err("wrong").to_string();
        assert!(message(params(0, 1, 1)).contains("vram_budget is 0; it must hold"));
        assert!(message(params(1, 1, 0)).contains("max_resident is 0; it must be at least 1"));
        let lonely = ResidencyParams {
            ram_budget: Some(ByteSize(1)),
            ..ResidencyParams::default()
        };
        assert!(message(lonely).contains("give vram_budget"));
        let hasty = ResidencyParams {
            load_timeout: Duration::ZERO,
            ..ResidencyParams::default()
        };
        assert!(message(hasty).contains("load_timeout is 0"));
        params(1, 0, 1)
            .validate()
            .expect("no host memory is a choice");
    }

    proptest! {
        #[test]
        fn charging_only_what_fits_keeps_every_limit_and_refunds_to_nothing(
            entries in prop::collection::vec((0u64..60, 0u64..20), 1..40),
        ) {
            let mut ledger = Ledger::new(&params(200, 50, 4));
            let mut held = Vec::new();
            for (device, host) in entries {
                let footprint = footprint(device, host);
                if ledger.fits(footprint) {
                    ledger.charge(footprint);
                    held.push(footprint);
                } else if let Some(first) = (!held.is_empty()).then(|| held.remove(0)) {
                    ledger.refund(first);
                }
                prop_assert!(ledger.is_kept());
            }
            let report = ledger.report(SwapMode::Sync);
            prop_assert!(report.vram_peak <= 200 && report.ram_peak <= 50);
            held.into_iter().for_each(|footprint| ledger.refund(footprint));
            let report = ledger.report(SwapMode::Sync);
            prop_assert_eq!((report.vram_used, report.ram_used, report.resident), (0, 0, 0));
        }
    }
}
