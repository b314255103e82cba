//! Which policies can do with some of the drafters at a time.

use crate::bandit::PolicySpec;
use crate::error::{Error, Result};
use crate::pool::Pool;

/// Checks that every drafter of `pool` is ready where `policy` has all of them draft in each round.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) saying how many are.
pub(super) fn check_all_ready(policy: &PolicySpec, pool: &Pool) -> Result<()> {
    let joint = matches!(policy, PolicySpec::DraftAll | PolicySpec::StaticEnsemble);
    if !joint || pool.holds_all() {
        return Ok(());
    }
    let usable = pool.members().iter().filter(|m| m.failure().is_none());
    let ready = usable
        .clone()
        .filter(|m| m.place() == crate::pool::Place::Device);
    Err(Error::invalid(format!(
        "policy `{policy}` has every drafter draft in each round, and the limits hold {} of {}; \
         raise --vram-budget and --max-resident, or take a policy that picks one drafter a round",
        ready.count(),
        usable.count()
    )))
}
