//! A target, two drafters, one answer: `cargo run --release --example generate TARGET.gguf DRAFTER.gguf PROMPT`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use metasd::Result;
use metasd::drafter::NgramParams;
use metasd::llama::{ChatMessage, ContextParams, Model, ModelParams};
use metasd::pool::{DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults};
use metasd::session::{Event, GenerateParams, Session, SessionParams};
use metasd::target::LlamaTarget;

const N_CTX: usize = 2048;
const N_BATCH: usize = 512;
const THREADS: usize = 2;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, drafter, prompt] = &arguments[..] else {
        eprintln!("usage: generate TARGET.gguf DRAFTER.gguf PROMPT");
        std::process::exit(2);
    };

    let params = SessionParams::default();
    let model = Model::load(Path::new(target), &ModelParams::default(), None)?;
    let target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: N_CTX,
            n_batch: N_BATCH,
            max_outputs: params.n_max + 1,
            sequences: 1,
            threads: THREADS,
        },
    )?;
    let drafters = [
        DrafterSpec {
            name: "small".into(),
            source: DrafterSource::Model {
                path: PathBuf::from(drafter),
                n_ctx: None,
                threads: None,
                gpu_layers: None,
            },
        },
        DrafterSpec {
            name: "ngram".into(),
            source: DrafterSource::Ngram(NgramParams::default()),
        },
    ];
    let defaults = PoolDefaults {
        n_ctx: N_CTX,
        n_batch: N_BATCH,
        threads: THREADS,
    };
    let pool = Pool::open(&drafters, &LoadContext::new(&model, defaults))?;
    let mut session = Session::new(Box::new(target), model.clone(), pool, params)?;

    let prompt = model.apply_chat_template(&[ChatMessage::new("user", prompt)], true)?;
    let prompt = model.tokenize(&prompt, true, true);
    let params = GenerateParams {
        max_tokens: Some(200),
        ..GenerateParams::default()
    };
    let generation = session.generate(&prompt, &params, &AtomicBool::new(false), &mut |event| {
        if let Event::Text { text, .. } = event {
            print!("{text}");
            // A closed output is no reason to stop here; the next print reports it.
            let _ = std::io::stdout().flush();
        }
    })?;
    println!();
    for drafter in &generation.drafters {
        eprintln!(
            "{}: {} rounds, {} of {} tokens accepted",
            drafter.name, drafter.rounds, drafter.accepted, drafter.drafted
        );
    }
    eprintln!(
        "{} tokens in {} rounds: {:.2} a round",
        generation.tokens.len(),
        generation.rounds,
        generation.mean_acceptance_length()
    );
    Ok(())
}
