//! `metasd record`.

use std::path::Path;
use std::process::ExitCode;

use metasd::pool::{DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults};
use metasd::record::{Header, RecordWriter, Source};
use metasd::recorder::{Recorder, RecorderParams};
use metasd::{Error, ErrorKind, Result, TokenId};

use super::args::{DEFAULT_RECORDED, RecordArgs};
use super::interrupt::{self, Busy};
use super::progress::Progress;
use super::selection::Selection;
use super::{Environment, digest, engine, prompt, sampling, say, suite};

/// Decodes every prompt greedily, and writes what each drafter would do at each position. Goes on
/// with a recording that was interrupted.
///
/// # Errors
/// For wrong arguments or prompts, an unusable target or drafter, a file that is not this
/// recording, or when Ctrl-C stops it; the texts that are done stay.
pub fn run(args: &RecordArgs, environment: &Environment) -> Result<ExitCode> {
    engine::check_n_max(args.spec_draft_n_max, args.models.batch_size)?;
    let selection = Selection::new(&args.models, environment)?;
    let categories = suite::read(&args.suite, selection.pool.as_deref())?;
    let reward_temperature = match args.reward_temperature {
        Some(temperature) => temperature,
        None => selection.session.reward_temperature,
    };
    let params = RecorderParams {
        n_max: args.spec_draft_n_max,
        n_predict: args.suite.predict.unwrap_or(DEFAULT_RECORDED),
        reward_temperature,
        seed: sampling::seed(args.seed)?,
    };

    let _busy = Busy::new();
    let progress = Progress::new(false);
    let model = engine::load_target(&selection.target, &args.models, &progress)?;
    let mut prompts = Vec::new();
    for (index, category) in categories.iter().enumerate() {
        for text in &category.texts {
            let system_prompt = selection.system_prompt.as_deref();
            let tokens = prompt::tokens(&model, text, &args.suite.template, system_prompt)?;
            prompts.push((index, tokens));
        }
    }
    let drafters = selection.drafters.len();
    let (mut target, defaults) = engine::open_target(&model, &args.models, params.n_max, drafters)?;
    let mut pool = progress.during("loading the drafters", || {
        let context = engine::load_context(&target, &args.models, defaults)?;
        open_pool(&selection, &context)
    })?;
    let longest = prompts.iter().map(|(_, tokens)| tokens.len()).max();
    let needed = longest.map_or(0, |tokens| {
        defaults.n_ctx.min(tokens.saturating_add(params.n_predict))
    });
    check_contexts(&selection.drafters, defaults, needed)?;
    let header = Header {
        target: Source {
            name: file_name(&selection.target),
            kind: "model".to_owned(),
            sha256: Some(digest::of_file(&selection.target)?.1),
        },
        drafters: selection
            .drafters
            .iter()
            .map(source)
            .collect::<Result<_>>()?,
        n_max: params.n_max,
        n_predict: params.n_predict,
        n_ctx: defaults.n_ctx,
        reward_temperature: params.reward_temperature,
        seed: params.seed,
        categories: categories
            .iter()
            .map(|category| category.name.clone())
            .collect(),
        prompts: prompts.len(),
        prompts_sha256: digest_of_prompts(&prompts),
    };

    let mut recorder = Recorder::new(&mut target, &mut pool, &*model, params)?;
    let mut writer = RecordWriter::open(&args.output, &header)?;
    let finished = writer.finished();
    if finished > 0 {
        say(format_args!(
            "{}: {finished} of {} prompts are recorded already",
            args.output.display(),
            prompts.len()
        ));
    }
    let most = prompts.len().saturating_mul(params.n_predict);
    let bar = progress.steps("tokens", most as u64);
    for (index, (category, tokens)) in prompts.iter().enumerate().skip(finished) {
        let before = index.saturating_mul(params.n_predict) as u64;
        let mut observe = |tokens: usize| bar.set_position(before.saturating_add(tokens as u64));
        let text = recorder
            .text(tokens, *category, interrupt::flag(), &mut observe)
            .map_err(|error| match error.kind() {
                ErrorKind::Cancelled => Error::new(
                    ErrorKind::Cancelled,
                    format!(
                        "{error}; {index} of {} prompts are in {}, and the same command goes on \
                         from there",
                        prompts.len(),
                        args.output.display()
                    ),
                ),
                _ => error.context(format_args!("prompt {}", index + 1)),
            })?;
        writer.append(&text)?;
        let (done, of) = (index + 1, prompts.len());
        bar.suspend(|| {
            say(format_args!(
                "{}: {} tokens, {done} of {of}",
                header.categories[*category],
                text.tokens.len()
            ));
        });
    }
    bar.finish_and_clear();
    say(format_args!(
        "{}: {} prompts recorded",
        args.output.display(),
        prompts.len()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Loads all drafters. One that is missing would be missing in every replay, so that none is left
/// out.
fn open_pool(selection: &Selection, context: &LoadContext) -> Result<Pool> {
    for index in 0..selection.drafters.len() {
        selection.check_file(index)?;
    }
    let pool = Pool::open(&selection.drafters, context)?;
    let failed = |(name, failure): (&str, &str)| {
        Error::new(ErrorKind::Backend, format!("drafter `{name}`: {failure}"))
    };
    let mut failures = pool
        .members()
        .iter()
        .filter_map(|member| Some((member.name(), member.failure()?)));
    match failures.next().map(failed) {
        Some(error) => Err(error),
        None => Ok(pool),
    }
}

/// Checks that every drafter's context holds the longest text.
fn check_contexts(drafters: &[DrafterSpec], defaults: PoolDefaults, needed: usize) -> Result<()> {
    for drafter in drafters {
        if let DrafterSource::Model { n_ctx, .. } | DrafterSource::Eagle3 { n_ctx, .. } =
            &drafter.source
        {
            let n_ctx = n_ctx.unwrap_or(defaults.n_ctx);
            if n_ctx < needed {
                return Err(Error::invalid(format!(
                    "drafter `{}` holds {n_ctx} tokens of context and the longest text may have \
                     {needed}; what it drafts beyond its context depends on the rounds before and \
                     cannot be recorded: raise --ctx-size-draft",
                    drafter.name
                )));
            }
        }
    }
    Ok(())
}

fn source(drafter: &DrafterSpec) -> Result<Source> {
    let sha256 = match drafter.source.path() {
        Some(path) => Some(digest::of_file(path)?.1),
        None => None,
    };
    Ok(Source {
        name: drafter.name.clone(),
        kind: drafter.source.kind().name().to_owned(),
        sha256,
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A digest of the prompts: of each the category, the number of tokens and the tokens.
fn digest_of_prompts(prompts: &[(usize, Vec<TokenId>)]) -> String {
    let mut bytes = Vec::new();
    for (category, tokens) in prompts {
        bytes.extend((*category as u64).to_le_bytes());
        bytes.extend((tokens.len() as u64).to_le_bytes());
        bytes.extend(tokens.iter().flat_map(|token| token.0.to_le_bytes()));
    }
    digest::of_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_prompts_or_another_division_of_them_have_another_digest() {
        let prompts = |ids: &[&[i32]]| {
            let tokens = |ids: &&[i32]| (0, ids.iter().copied().map(TokenId).collect());
            digest_of_prompts(&ids.iter().map(tokens).collect::<Vec<_>>())
        };
        let one = prompts(&[&[1, 2], &[3]]);
        assert_eq!(one, prompts(&[&[1, 2], &[3]]));
        assert_ne!(one, prompts(&[&[1], &[2, 3]]));
        assert_ne!(one, prompts(&[&[1, 2], &[4]]));
    }

    #[test]
    fn a_drafter_whose_context_ends_before_the_text_is_refused() {
        let drafter = |n_ctx| DrafterSpec {
            name: "short".to_owned(),
            source: DrafterSource::Model {
                path: "short.gguf".into(),
                n_ctx,
                threads: None,
                gpu_layers: None,
            },
        };
        let defaults = PoolDefaults {
            n_ctx: 100,
            n_batch: 8,
            threads: 1,
        };
        check_contexts(&[drafter(None)], defaults, 100).expect("the target's");
        check_contexts(&[drafter(Some(60))], defaults, 60).expect("long enough");
        let error = check_contexts(&[drafter(Some(59))], defaults, 60).expect_err("too short");
        assert!(error.to_string().contains("`short` holds 59"), "{error}");
    }
}
