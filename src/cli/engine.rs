//! From arguments and pool file to a session.

use std::path::Path;
use std::sync::Arc;

use metasd::align::Aligner;
use metasd::bandit::PolicySpec;
use metasd::llama::{ContextParams, DeviceChoice, Model, ModelParams, TokenEmbedding};
use metasd::pool::{LoadContext, Pool, PoolDefaults, ResidencyParams};
use metasd::router::{Router, TargetIdentity};
use metasd::session::{Session, SessionParams, check_carry};
use metasd::target::LlamaTarget;
use metasd::{Error, ErrorKind, Result};

use super::options::{ModelArgs, SpeculationArgs};
use super::progress::Progress;
use super::selection::{Selection, with_hint};
use super::{Environment, warn};

/// Tokens of context unless asked otherwise and where the model was trained for as many.
const DEFAULT_CTX_SIZE: usize = 4096;

/// A session with what the commands need beside it.
#[derive(Debug)]
pub struct Engine {
    /// The target's model.
    pub model: Arc<Model>,
    /// The session.
    pub session: Session,
    /// The system prompt that comes with the target.
    pub system_prompt: Option<String>,
    /// Tokens of context.
    pub n_ctx: usize,
}

impl Engine {
    /// Loads target and drafters.
    ///
    /// # Errors
    /// For wrong arguments, before any model is loaded; for an unusable target; for a drafter of
    /// another vocabulary in a pool that was asked for.
    pub fn open(
        models: &ModelArgs,
        speculation: &SpeculationArgs,
        environment: &Environment,
        progress: &Progress,
    ) -> Result<Self> {
        Self::open_for(&[], models, speculation, environment, progress)
    }

    /// The same, for a session that may be switched to `policies` too.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_for(
        policies: &[PolicySpec],
        models: &ModelArgs,
        speculation: &SpeculationArgs,
        environment: &Environment,
        progress: &Progress,
    ) -> Result<Self> {
        let mut selection = Selection::new(models, environment)?;
        let mut params = session_params(&selection.session, speculation, models.batch_size)?;
        let limits = speculation.residency.over(&selection.residency, models)?;
        if params.policy == PolicySpec::Off {
            // No drafter is loaded, so none need be there.
        } else if selection.leaves_out {
            leave_out_missing(&mut selection);
        } else {
            for index in 0..selection.drafters.len() {
                selection.check_file(index)?;
            }
        }
        settle_policy(&mut params, &selection, speculation)?;
        let asked = |policy| params.policy == policy || policies.contains(&policy);
        let (uses_router, uses_candidates) =
            (asked(PolicySpec::Router), asked(PolicySpec::DraftAll));
        let router = speculation.router.clone().or(selection.router.clone());
        // A file that is wrong is told before the models are read.
        if uses_router {
            read_router(router.as_deref())?;
        }
        let candidates = match uses_candidates {
            // Even a single one is verified as one of several.
            true => selection.drafters.len().max(2),
            false => 1,
        };
        check_candidates(candidates, params.n_max, models.batch_size)?;

        let model = load_target(&selection.target, models, progress)?;
        let (target, defaults) = open_target(&model, models, params.n_max, candidates)?;
        let pool = progress.during("loading the drafters", || {
            let context = load_context(&target, models, defaults)?;
            load_drafters(&mut selection, &params.policy, &context, limits)
        })?;
        settle_policy(&mut params, &selection, speculation)?;
        for member in pool.members() {
            if let Some(failure) = member.failure() {
                warn(format_args!(
                    "drafter `{}` is left out: {failure}",
                    member.name()
                ));
            }
        }
        let mut engine = Self {
            session: Session::new(Box::new(target), model.clone(), pool, params)?,
            system_prompt: selection.system_prompt,
            model,
            n_ctx: defaults.n_ctx,
        };
        if uses_router {
            engine.open_router(router.as_deref())?;
        }
        Ok(engine)
    }

    /// Gives the session the router at `path`.
    ///
    /// # Errors
    /// When no router was given, or it is unusable or not for this target or these drafters.
    fn open_router(&mut self, path: Option<&Path>) -> Result<()> {
        let (path, router) = read_router(path)?;
        router
            .check_target(&TargetIdentity::of(&self.model))
            .and_then(|()| TokenEmbedding::open(&self.model))
            .and_then(|embedding| self.session.set_router(router, Box::new(embedding)))
            .map_err(|error| error.context(path.display()))
    }
}

/// The router at `path`.
fn read_router(path: Option<&Path>) -> Result<(&Path, Router)> {
    let Some(path) = path else {
        return Err(Error::invalid(
            "policy `router` needs a router: give its file with --router, or with `router` in the \
             pool file's [session]; `metasd router fit` makes one",
        ));
    };
    Ok((path, Router::load(path)?))
}

/// Makes the target's context, for up to `candidates` drafts of at most `n_max` tokens verified at
/// once, and what the drafters take over from it.
///
/// # Errors
/// When the context cannot be made.
pub fn open_target(
    model: &Arc<Model>,
    models: &ModelArgs,
    n_max: usize,
    candidates: usize,
) -> Result<(LlamaTarget, PoolDefaults)> {
    let defaults = pool_defaults(model, models);
    let target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: defaults.n_ctx,
            n_batch: defaults.n_batch,
            max_outputs: n_max * candidates + 1,
            sequences: if candidates > 1 { candidates + 1 } else { 1 },
            threads: defaults.threads,
        },
    )?;
    Ok((target, defaults))
}

/// What drafters take over from `model` and the command line.
fn pool_defaults(model: &Model, models: &ModelArgs) -> PoolDefaults {
    PoolDefaults {
        n_ctx: context_size(models.ctx_size, model),
        n_batch: models.batch_size,
        threads: models.threads.unwrap_or_else(default_threads),
    }
}

/// What the drafters of `model` are loaded with.
///
/// # Errors
/// When a device of theirs is not there.
pub fn load_context(
    target: &LlamaTarget,
    models: &ModelArgs,
    defaults: PoolDefaults,
) -> Result<LoadContext> {
    Ok(LoadContext {
        devices: devices("--device-draft", models.device_draft.as_deref())?,
        separate_device: models.drafters_have_own_memory(),
        ..LoadContext::new(target.model(), defaults).with_features(target.features())
    })
}

fn devices(option: &str, names: Option<&str>) -> Result<Option<DeviceChoice>> {
    let chosen = names.map(DeviceChoice::parse).transpose();
    chosen.map_err(|error| error.context(option))
}

/// The physical cores that this process may use: more threads than those slow ggml down.
pub fn default_threads() -> usize {
    let usable = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    num_cpus::get_physical().clamp(1, usable)
}

/// Loads the target, showing progress; Ctrl-C stops it.
///
/// # Errors
/// Those of [`Model::load`].
pub fn load_target(path: &Path, models: &ModelArgs, progress: &Progress) -> Result<Arc<Model>> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let params = ModelParams {
        gpu_layers: models.n_gpu_layers.0,
        devices: devices("--device", models.device.as_deref())?,
    };
    Model::load(path, &params, Some(progress.load(&name.to_string_lossy())))
        .map_err(|error| with_hint(error, path))
}

/// The target's context: what was asked for, else the default as far as the model was trained for
/// it.
pub fn context_size(asked: Option<usize>, model: &Model) -> usize {
    let trained = match model.n_ctx_train() {
        0 => usize::MAX,
        trained => trained,
    };
    match asked {
        None => DEFAULT_CTX_SIZE.min(trained),
        Some(0) if trained == usize::MAX => DEFAULT_CTX_SIZE,
        Some(0) => trained,
        Some(asked) => {
            if asked > trained {
                warn(format_args!(
                    "ctx-size is {asked}, but {} was trained for {trained} tokens; what comes \
                     after those may make no sense",
                    model.path().display()
                ));
            }
            asked
        }
    }
}

/// The session's parameters: the command line's over the pool file's.
fn session_params(
    file: &SessionParams,
    args: &SpeculationArgs,
    batch_size: usize,
) -> Result<SessionParams> {
    let mut params = file.clone();
    if let Some(policy) = &args.policy {
        params.policy = policy.clone();
    }
    if let Some(reward) = args.reward {
        params.policy_params.reward = reward;
    }
    args.tuning.apply(&mut params.policy_params);
    if let Some(temperature) = args.reward_temperature {
        params.reward_temperature = temperature;
    }
    if args.carry.is_some() {
        params.carry = args.carry;
    }
    if let Some(n_max) = args.spec_draft_n_max {
        params.n_max = n_max;
    }
    params.policy_params.validate()?;
    Aligner::new(params.reward_temperature)?;
    check_carry(params.carry)?;
    check_n_max(params.n_max, batch_size)?;
    Ok(params)
}

/// Checks that a draft of `n_max` tokens and the token before it fit a batch.
///
/// # Errors
/// When they do not.
pub fn check_n_max(n_max: usize, batch_size: usize) -> Result<()> {
    if batch_size < 2 {
        return Err(Error::invalid(format!(
            "batch-size is {batch_size}; it must be at least 2, for a token and a draft of one"
        )));
    }
    if n_max == 0 || n_max >= batch_size {
        return Err(Error::invalid(format!(
            "spec-draft-n-max is {}; it must be 1 to {}, so that a draft and the token before it \
             fit a batch (--batch-size {batch_size})",
            n_max,
            batch_size - 1
        )));
    }
    Ok(())
}

/// Checks that the drafts of `candidates` drafters and the token before them fit a batch.
fn check_candidates(candidates: usize, n_max: usize, batch_size: usize) -> Result<()> {
    if candidates == 1 || candidates * n_max < batch_size {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{candidates} drafts of {n_max} tokens and the token before them, which policy `{}` \
         verifies at once, do not fit a batch of {batch_size}; lower --spec-draft-n-max or raise \
         --batch-size",
        PolicySpec::DraftAll
    )))
}

/// Checks that the policy goes with the drafters there are. A pool file's policy that goes with a
/// drafter which was left out gives way to the default one.
fn settle_policy(
    params: &mut SessionParams,
    selection: &Selection,
    args: &SpeculationArgs,
) -> Result<()> {
    let names = selection.names();
    let built = params.policy.build(&params.policy_params, &names);
    match built {
        Ok(_) => Ok(()),
        Err(error) if selection.leaves_out && args.policy.is_none() => {
            params.policy = PolicySpec::default();
            warn(format_args!("{error}; {} is taken", params.policy));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn leave_out_missing(selection: &mut Selection) {
    let keep = |index: usize| match selection.check_file(index) {
        Ok(()) => true,
        Err(error) => {
            warn(format_args!("{error}; this drafter is left out"));
            false
        }
    };
    let keep: Vec<bool> = (0..selection.drafters.len()).map(keep).collect();
    selection.retain(&keep);
}

/// Whether a drafter cannot be loaded because of the target it is to draft for.
pub fn is_of_another_target(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::VocabularyMismatch | ErrorKind::TargetMismatch
    )
}

/// Loads the drafters that `policy` may choose. Where drafters are left out, those that do not speak
/// the target's language are.
fn load_drafters(
    selection: &mut Selection,
    policy: &PolicySpec,
    context: &LoadContext,
    limits: ResidencyParams,
) -> Result<Pool> {
    let mut pool = Pool::within(limits)?;
    if *policy == PolicySpec::Off {
        return Ok(pool);
    }
    let mut keep = Vec::new();
    for drafter in &selection.drafters {
        let loaded = pool.load(drafter, context);
        keep.push(loaded.is_ok());
        match loaded {
            Err(error) if selection.leaves_out && is_of_another_target(&error) => {
                warn(format_args!("{error}; this drafter is left out"));
            }
            loaded => loaded?,
        }
    }
    if selection.leaves_out {
        selection.retain(&keep);
    }
    // Where none was left the selection has one that fits any target.
    for drafter in &selection.drafters[pool.members().len()..] {
        pool.load(drafter, context)?;
    }
    pool.fill()?;
    Ok(pool)
}
