//! What an EAGLE-3 head drafts first at every position of five greedy answers.
//!
//!     cargo run --release --example first_drafts TARGET.gguf HEAD.gguf > texts
//!     cargo run --release --example first_drafts TARGET.gguf HEAD.gguf texts drafts
//!
//! The first form prints the answers as tokens, a line for each: the number of the prompt's tokens,
//! then the tokens of prompt and answer. The second compares the head's drafts on them with those
//! of another program, a line of tokens for each text (`benches/compare_eagle3.py` has llama.cpp's
//! own make them), and fails where one differs by more than rounding explains.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::align::Proposal;
use metasd::drafter::{Draft, Drafter, Eagle3Drafter, HeadFile, ModelDrafterParams};
use metasd::llama::{
    ChatMessage, ContextParams, Model, ModelParams, Outputs, SamplerChain, SamplingParams,
};
use metasd::pool::Pool;
use metasd::session::{GenerateParams, Session, SessionParams};
use metasd::target::{LlamaTarget, Target};
use metasd::{Error, Result, TokenId};
use rand::SeedableRng;

const N_CTX: usize = 2048;
const PREDICT: usize = 64;

/// How far apart two logits may be that change places.
const MAX_GAP: f32 = 1e-2;

const PROMPTS: [&str; 5] = [
    "Write a Python function that returns the n-th Fibonacci number, with a short docstring.",
    "A bakery sells 24 rolls in the morning and half as many in the afternoon. Each roll costs \
     3 dollars. How much money does it take in a day?",
    "Translate German to English: Die Katze schläft auf dem warmen Stein vor dem Haus.",
    "Summarize: The lighthouse on the northern cape was built two hundred years ago, after three \
     ships had been lost in one winter. Its keepers lived there all year and rowed ashore for \
     bread. Today the lamp works by itself, and the keepers' house is a small museum.",
    "Which planet of the solar system has the most moons, and why?",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [target, head] => texts(Path::new(target), Path::new(head)).map(|()| true),
        [target, head, texts, drafts] => compare(
            (Path::new(target), Path::new(head)),
            (Path::new(texts), Path::new(drafts)),
        ),
        _ => Err(Error::invalid(
            "usage: first_drafts TARGET HEAD [TEXTS DRAFTS]",
        )),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &Path) -> Result<Arc<Model>> {
    Model::load(path, &ModelParams::default(), None)
}

fn target(model: &Arc<Model>) -> Result<LlamaTarget> {
    LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: N_CTX,
            n_batch: 512,
            max_outputs: 8,
            sequences: 1,
            threads: 1,
        },
    )
}

/// Prints the answers.
fn texts(path: &Path, head: &Path) -> Result<()> {
    let model = load(path)?;
    HeadFile::read(head, &model)?;
    let session = Session::new(
        Box::new(target(&model)?),
        model.clone(),
        Pool::default(),
        SessionParams::default(),
    );
    let mut session = session?;
    let params = GenerateParams {
        max_tokens: Some(PREDICT),
        ..GenerateParams::default()
    };
    for text in PROMPTS {
        let text = model.apply_chat_template(&[ChatMessage::new("user", text)], true)?;
        let prompt = model.tokenize(&text, true, true);
        let answer = session.generate(&prompt, &params, &AtomicBool::new(false), &mut |_| {})?;
        let tokens = prompt.iter().chain(&answer.tokens);
        let tokens: Vec<String> = tokens.map(ToString::to_string).collect();
        println!("{} {}", prompt.len(), tokens.join(" "));
    }
    Ok(())
}

/// Compares the head's first drafts with those of another program. Returns whether they agree.
fn compare(models: (&Path, &Path), files: (&Path, &Path)) -> Result<bool> {
    let model = load(models.0)?;
    let file = HeadFile::read(models.1, &model)?;
    let head = load(models.1)?;
    let (texts, drafts) = (numbers(files.0)?, numbers(files.1)?);
    let (mut positions, mut equal, mut explained) = (0, 0, 0);
    for (text, drafts) in texts.iter().zip(&drafts) {
        let Some((&prompt, text)) = text.split_first() else {
            continue;
        };
        let prompt = TokenId(prompt).index();
        let text: Vec<TokenId> = text.iter().copied().map(TokenId).collect();
        let mut target = target(&model)?;
        let params = ModelDrafterParams {
            n_ctx: N_CTX,
            n_batch: 512,
            threads: 1,
        };
        let mut drafter = Eagle3Drafter::new(head.clone(), &file, &target.features(), params)?;
        target.decode(&text[..prompt - 1], Outputs::None)?;
        for (len, &theirs) in (prompt..text.len()).zip(drafts) {
            let row = first(&mut drafter, &text[..len], model.vocab_size())?;
            let ours = metasd::dist::argmax(&row)?;
            positions += 1;
            if ours.0 == theirs {
                equal += 1;
            } else {
                let index = usize::try_from(theirs).map_err(|_| Error::invalid("no draft"))?;
                let gap = row[ours.index()] - row[index];
                explained += usize::from(gap < MAX_GAP);
                println!("position {len}: {ours} here, {theirs} there, {gap} apart");
            }
            target.decode(&text[len - 1..len], Outputs::All)?;
        }
    }
    println!("{positions} positions: {equal} equal, {explained} within {MAX_GAP}");
    Ok(positions > 0 && equal + explained == positions)
}

/// The logits of what `drafter` drafts first after `history`.
fn first(drafter: &mut Eagle3Drafter, history: &[TokenId], n_vocab: usize) -> Result<Vec<f32>> {
    let mut draft = Draft::new(n_vocab);
    let mut chain = SamplerChain::new(&SamplingParams::default(), n_vocab)?;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
    drafter.draft(history, 1, &mut chain, &mut rng, &mut draft)?;
    match draft.proposals().next() {
        Some(Proposal::Logits(row)) => Ok(row.to_vec()),
        _ => Err(Error::invalid("the head drafted nothing")),
    }
}

/// The numbers of a file, line by line.
fn numbers(path: &Path) -> Result<Vec<Vec<i32>>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::io("cannot read", path, error))?;
    let line = |line: &str| line.split_whitespace().map(str::parse).collect();
    text.lines()
        .map(line)
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| Error::invalid(format!("{}: {error}", path.display())))
}
