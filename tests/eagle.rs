//! EAGLE-3 heads on the real target: the text stays its own, and a head drafts the same whatever it
//! has been through.

#[path = "support/heads.rs"]
mod heads;
#[path = "support/models.rs"]
mod models;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::audit::{self, DEFAULT_MAX_GAP, Tally};
use metasd::bandit::PolicyParams;
use metasd::config::PoolFile;
use metasd::drafter::{Beliefs, Draft, Drafter, Eagle3Drafter, HeadFile, ModelDrafterParams};
use metasd::features::FeatureSource;
use metasd::llama::{
    ChatMessage, ContextParams, HeadContext, HeadParams, KvCache, Model, ModelParams, Outputs,
    SamplerChain, SamplingParams,
};
use metasd::pool::{DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults};
use metasd::session::{Event, GenerateParams, Generation, Session, SessionParams};
use metasd::target::{LlamaTarget, Target};
use metasd::tree::Tree;
use metasd::{ErrorKind, TokenId, dist};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const N_CTX: usize = 512;

/// Two logits that close may change places with the size of a batch.
const MAX_GAP: f32 = 1e-2;

const PROMPTS: [&str; 3] = [
    "Write a Python function that returns the n-th Fibonacci number, with a short docstring.",
    "Translate German to English: Die Katze schläft auf dem warmen Stein vor dem Haus.",
    "Which planet of the solar system has the most moons, and why?",
];

fn prompt(model: &Model, text: &str) -> Vec<TokenId> {
    let text = model
        .apply_chat_template(&[ChatMessage::new("user", text)], true)
        .expect("a chat template");
    model.tokenize(&text, true, true)
}

/// A head named `name`, of which the file may be called a model too.
fn head(name: &str, n_ctx: Option<usize>) -> DrafterSpec {
    DrafterSpec {
        name: name.into(),
        source: DrafterSource::Model {
            path: heads::head("general"),
            n_ctx,
            threads: None,
            gpu_layers: None,
        },
    }
}

fn target(model: &Arc<Model>, candidates: usize) -> LlamaTarget {
    LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: N_CTX,
            n_batch: 256,
            max_outputs: candidates * 5 + 1,
            sequences: candidates + 1,
            threads: 1,
        },
    )
    .expect("a context")
}

/// A session with `drafters`, all of which may draft at once, and what its heads read.
fn session(model: &Arc<Model>, drafters: &[DrafterSpec]) -> (Session, FeatureSource) {
    let target = target(model, drafters.len().max(2));
    let features = target.features();
    let defaults = PoolDefaults {
        n_ctx: N_CTX,
        n_batch: 256,
        threads: 1,
    };
    let context = LoadContext::new(model, defaults).with_features(features.clone());
    let pool = Pool::open(drafters, &context).expect("drafters of this target");
    let params = SessionParams::default();
    let session = Session::new(Box::new(target), model.clone(), pool, params);
    (session.expect("valid parameters"), features)
}

/// The drafter itself.
fn drafter(features: &FeatureSource, n_ctx: usize) -> Eagle3Drafter {
    let path = heads::head("general");
    let file = HeadFile::read(&path, features.model()).expect("a head of this target");
    let model = Model::load(&path, &ModelParams::default(), None).expect("a model");
    let params = ModelDrafterParams {
        n_ctx,
        n_batch: 256,
        threads: 1,
    };
    Eagle3Drafter::new(model, &file, features, params).expect("a context")
}

fn limited(max_tokens: usize) -> GenerateParams {
    GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    }
}

fn generate(session: &mut Session, prompt: &[TokenId], policy: &str, n: usize) -> Generation {
    set_policy(session, policy);
    session
        .generate(prompt, &limited(n), &AtomicBool::new(false), &mut |_| {})
        .expect("a generation")
}

fn set_policy(session: &mut Session, policy: &str) {
    let policy = policy.parse().expect("a known policy");
    (session.set_policy(policy, PolicyParams::default())).expect("a drafter of the pool");
}

/// What `drafter` drafts after `history`: the tokens with the logits of each.
fn draft(drafter: &mut dyn Drafter, history: &[TokenId], max: usize) -> Vec<(TokenId, Vec<f32>)> {
    let n_vocab = 49_152;
    let mut draft = Draft::new(n_vocab);
    let mut chain = SamplerChain::new(&SamplingParams::default(), n_vocab).expect("valid");
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    drafter
        .draft(history, max, &mut chain, &mut rng, &mut draft)
        .expect("a draft");
    let rows = draft.proposals().map(|proposal| match proposal {
        metasd::align::Proposal::Logits(row) => row.to_vec(),
        metasd::align::Proposal::OneHot(_) => panic!("a head has a distribution"),
    });
    draft.tokens().iter().copied().zip(rows).collect()
}

/// Checks that two rows of logits say the same up to rounding, and deny the same tokens.
#[track_caller]
fn assert_alike(a: &[f32], b: &[f32], what: &str) {
    let denied = |row: &[f32]| row.iter().filter(|l| **l == f32::NEG_INFINITY).count();
    assert_eq!(denied(a), denied(b), "{what}");
    assert!(denied(a) > 30_000, "{what}: a reduced vocabulary");
    let (a_top, b_top) = (
        dist::argmax(a).expect("finite"),
        dist::argmax(b).expect("finite"),
    );
    let gap = a[a_top.index()] - a[b_top.index()];
    assert!(gap < MAX_GAP, "{what}: {a_top} and {b_top}, {gap} apart");
}

/// A greedy text of the target after `prompt`, which is part of it.
fn text_of(model: &Arc<Model>, prompt: &[TokenId], n: usize) -> Vec<TokenId> {
    let (mut session, _) = session(model, &[]);
    let generation = generate(&mut session, prompt, "off", n);
    [prompt, &generation.tokens].concat()
}

#[test]
fn switching_between_heads_small_models_and_ngrams_keeps_the_targets_text() {
    let model = models::smollm2("F32");
    let mut drafters = vec![head("head", None), head("short", Some(40))];
    drafters.extend(models::drafters());
    let (mut session, _) = session(&model, &drafters);
    let kinds: Vec<_> = (session.pool().members().iter())
        .map(|member| member.kind().name())
        .collect();
    assert_eq!(kinds, ["eagle3", "eagle3", "model", "model", "ngram"]);
    let cancel = AtomicBool::new(false);
    let mut tally = Tally::default();
    for text in PROMPTS {
        let prompt = prompt(&model, text);
        let expected = audit::reference(&mut session, &prompt, 64, &cancel).expect("a text");
        for policy in [
            "round-robin",
            "metasd-ucb",
            "fixed:head",
            "hedge",
            "static-ensemble",
            "draft-all",
        ] {
            let with = (policy.parse().expect("known"), PolicyParams::default());
            let limits = (64, DEFAULT_MAX_GAP);
            let outcome = audit::compare(&mut session, &prompt, &expected, with, limits, &cancel)
                .expect("a generation");
            println!(
                "{policy}: {:?}, {:.2} tokens a round",
                outcome.verdict, outcome.mean_acceptance_length
            );
            tally.add(&outcome.verdict);
        }
        let failures: Vec<_> = (session.pool().members().iter())
            .filter_map(|member| member.failure())
            .collect();
        assert!(failures.is_empty(), "{failures:?}");
    }
    assert_eq!((tally.runs, tally.unexplained), (18, 0), "{tally:?}");
}

#[test]
fn a_head_drafts_the_same_whether_it_was_there_all_the_time_or_catches_up() {
    let model = models::smollm2("F32");
    for text in &PROMPTS[..2] {
        let prompt = prompt(&model, text);
        let text = text_of(&model, &prompt, 40);
        let mut target = target(&model, 1);
        let features = target.features();
        let mut always = drafter(&features, N_CTX);
        let mut sometimes = drafter(&features, N_CTX);
        target
            .decode(&prompt[..prompt.len() - 1], Outputs::None)
            .expect("room");
        let mut drafted_right = 0;
        for len in prompt.len()..text.len() {
            let history = &text[..len];
            let here = draft(&mut always, history, 4);
            // A draft is shorter than asked for where it ends the text.
            let ends = here.last().is_some_and(|(token, _)| model.is_eog(*token));
            assert!(
                here.len() == 4 || ends,
                "it drafts from the first position on"
            );
            drafted_right += usize::from(here[0].0 == text[len]);
            if len % 7 == 0 {
                let there = draft(&mut sometimes, history, 4);
                assert_alike(&here[0].1, &there[0].1, "caught up");
                let mut fresh = drafter(&features, N_CTX);
                let anew = draft(&mut fresh, history, 4);
                assert_alike(&here[0].1, &anew[0].1, "from the beginning");
                let same = |i: usize| here[i].0 == anew[i].0;
                if here.len().min(anew.len()) > 2 && same(0) && same(1) {
                    assert_alike(&here[2].1, &anew[2].1, "of its own states");
                }
            }
            // The target verifies a draft that is wrong from the second token on.
            let rejected = TokenId((text[len].0 + 1) % 1000);
            target
                .decode(&[text[len - 1], text[len], rejected], Outputs::All)
                .expect("room");
            target.truncate(len).expect("cut");
            always.rollback(len + 1).expect("cut");
        }
        println!("{drafted_right} of 40 first drafts are the text's");
        assert!(drafted_right > 4, "the head is of some use");
    }
}

#[test]
fn beliefs_are_what_a_head_would_have_drafted() {
    let model = models::smollm2("F32");
    let prompt = prompt(&model, PROMPTS[2]);
    let text = text_of(&model, &prompt, 12);
    let mut target = target(&model, 1);
    let features = target.features();
    let (mut believer, mut drafting) = (drafter(&features, N_CTX), drafter(&features, N_CTX));
    target
        .decode(&text[..text.len() - 1], Outputs::None)
        .expect("room");
    for count in [1, 3, 11] {
        let mut beliefs = Beliefs::new(model.vocab_size());
        let told = believer.believe(&text, count, &mut beliefs).expect("told");
        assert!(told.is_some());
        assert_eq!(beliefs.len(), count);
        for (belief, end) in beliefs.proposals().zip(text.len() - count..) {
            let Some(metasd::align::Proposal::Logits(belief)) = belief else {
                panic!("a head has a distribution");
            };
            drafting.rollback(end).expect("cut");
            let drafted = draft(&mut drafting, &text[..end], 1);
            assert_alike(belief, &drafted[0].1, "a belief");
        }
        // And it goes on from there.
        let (a, b) = (
            draft(&mut believer, &text, 2),
            draft(&mut drafting, &text, 2),
        );
        assert_alike(&a[0].1, &b[0].1, "after the beliefs");
    }
    let mut beliefs = Beliefs::new(model.vocab_size());
    let early = believer.believe(&text[..3], 2, &mut beliefs).expect("told");
    assert!(
        early.is_none() && beliefs.is_empty(),
        "no pair is before the second token"
    );
}

#[test]
fn a_path_of_a_tree_that_is_kept_has_the_features_of_the_text() {
    let model = models::smollm2("F32");
    let prompt = prompt(&model, PROMPTS[0]);
    let text = text_of(&model, &prompt, 6);
    let read = |trees: bool| {
        let mut target = target(&model, 2);
        let features = target.features();
        features.store().require(&[2, 15, 27]);
        target
            .decode(&prompt[..prompt.len() - 1], Outputs::None)
            .expect("room");
        let root = prompt[prompt.len() - 1];
        let right = &text[prompt.len()..prompt.len() + 3];
        if trees {
            let wrong = [right[0], TokenId(5), TokenId(6)];
            let tree = Tree::new(root, [wrong.as_slice(), right]);
            target.decode_tree(&tree).expect("room");
            let path = tree.path(1);
            target.keep_path(path[2]).expect("a node");
        } else {
            target
                .decode(&[&[root], right].concat(), Outputs::All)
                .expect("room");
            target.truncate(prompt.len() + 2).expect("cut");
        }
        let store = features.store();
        assert_eq!((store.start(), store.end()), (0, prompt.len() + 2));
        let mut rows = Vec::new();
        store.read(prompt.len() - 1, store.end(), &[27], &mut rows);
        rows
    };
    let (of_tree, of_text) = (read(true), read(false));
    let width = model.n_embd();
    for (position, (a, b)) in of_tree.chunks(width).zip(of_text.chunks(width)).enumerate() {
        let norm = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
        let difference: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let apart = norm(&difference) / norm(b);
        assert!(apart < 1e-3, "position {position}: {apart}");
    }
}

#[test]
fn heads_share_one_extraction_and_what_it_keeps_is_bounded() {
    let model = models::smollm2("Q4_0");
    let (mut session, features) = session(&model, &[head("a", None), head("b", None)]);
    let prompt = prompt(&model, PROMPTS[1]);
    let generation = generate(&mut session, &prompt, "round-robin", 24);
    assert!(generation.drafters.iter().all(|drafter| drafter.rounds > 2));
    let store = features.store();
    assert_eq!(store.layers(), [2, 15, 27]);
    assert_eq!(store.start(), 0);
    assert!(store.end() >= prompt.len() + generation.tokens.len() - 2);
    let row = 3 * model.n_embd() * 4;
    assert!(store.bytes() <= 2 * N_CTX * row, "{}", store.bytes());
    assert_eq!(store.capacity(), N_CTX);
}

#[test]
fn without_a_head_nothing_is_extracted() {
    let model = models::smollm2("Q4_0");
    let (mut session, features) = session(&model, &models::drafters()[2..]);
    let prompt = prompt(&model, PROMPTS[1]);
    generate(&mut session, &prompt, "round-robin", 8);
    assert_eq!(features.store().bytes(), 0);
    assert!(features.store().layers().is_empty());
}

#[test]
fn a_head_with_a_small_context_keeps_the_newest_window_and_goes_on_drafting() {
    let model = models::smollm2("Q4_0");
    let (mut session, _) = session(&model, &[head("short", Some(24)), head("whole", None)]);
    let prompt = prompt(&model, &"The cat sat on the mat. ".repeat(12));
    assert!(prompt.len() > 64);
    let plain = generate(&mut session, &prompt, "off", 60);
    let drafted = generate(&mut session, &prompt, "fixed:short", 60);
    let short = &drafted.drafters[0];
    assert!(short.failure.is_none(), "{short:?}");
    assert!(short.drafted > 40, "{short:?}");
    assert_eq!(drafted.text.is_empty(), plain.text.is_empty());
}

#[test]
fn a_window_that_has_moved_is_like_one_that_began_there() {
    let target = models::smollm2("Q4_0");
    let path = heads::head("general");
    let file = HeadFile::read(&path, &target).expect("a head of this target");
    let model = Model::load(&path, &ModelParams::default(), None).expect("a model");
    let params = HeadParams {
        n_ctx: 24,
        threads: 1,
        drafted: file.drafted().map(<[u32]>::to_vec),
    };
    let context = || HeadContext::new(model.clone(), target.clone(), &params).expect("a context");
    let (mut moved, mut begun) = (context(), context());
    let tokens: Vec<TokenId> = (0..20).map(|i| TokenId(100 + 37 * i)).collect();
    let width = moved.feature_width();
    let features: Vec<f32> = (0..tokens.len() * width)
        .map(|i| (i * 7919 % 1009) as f32 / 1000.0 - 0.5)
        .collect();
    moved.decode_features(&tokens, &features, 0).expect("room");
    let overfull = moved.decode_features(&tokens[..5], &features[..5 * width], 0);
    assert_eq!(
        overfull.expect_err("24 fit").kind(),
        ErrorKind::ContextOverflow
    );
    moved.forget_before(8).expect("moved");
    begun.restart_at(8);
    (begun.decode_features(&tokens[8..], &features[8 * width..], 0)).expect("room");
    assert_eq!((moved.start(), moved.len()), (begun.start(), begun.len()));
    let state: Vec<f32> = features[..moved.width()].to_vec();
    for context in [&mut moved, &mut begun] {
        context.decode_state(TokenId(5), &state).expect("room");
    }
    let logits = |context: &HeadContext| context.logits(0).expect("a row").to_vec();
    let (moved, begun) = (logits(&moved), logits(&begun));
    let apart = |(a, b): (&f32, &f32)| a != b && (a - b).abs() > 1e-4;
    assert!(!moved.iter().zip(&begun).any(apart));
}

#[test]
fn a_window_smaller_than_the_draft_takes_the_head_out_and_the_text_goes_on() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &[head("tiny", Some(4))], N_CTX);
    let prompt = prompt(&model, PROMPTS[2]);
    let plain = generate(&mut session, &prompt, "off", 16);
    let generation = generate(&mut session, &prompt, "fixed:tiny", 16);
    assert_eq!(generation.tokens, plain.tokens);
    let failure = generation.drafters[0].failure.as_deref().expect("it left");
    assert!(failure.contains("does not fit a context of 4"), "{failure}");
}

#[test]
fn features_that_are_missing_take_the_head_out_and_the_text_goes_on() {
    let model = models::smollm2("Q4_0");
    let drafters = [head("head", None), models::drafters().remove(2)];
    let (mut session, features) = session(&model, &drafters);
    let prompt = prompt(&model, PROMPTS[2]);
    let plain = generate(&mut session, &prompt, "off", 24);
    set_policy(&mut session, "fixed:head");
    let mut left = Vec::new();
    let mut observe = |event: Event<'_>| match event {
        // As if the target's cache had come from elsewhere.
        Event::Round(round) if round.round == 3 => features.store().clear(),
        Event::DrafterLeft { name, error } => left.push((name.to_owned(), error.to_string())),
        _ => {}
    };
    let generation = session
        .generate(&prompt, &limited(24), &AtomicBool::new(false), &mut observe)
        .expect("a generation");
    assert_eq!(generation.tokens, plain.tokens);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0, "head");
    assert!(left[0].1.contains("features at position"), "{}", left[0].1);
}

#[test]
fn a_head_that_is_loaded_in_mid_text_drafts_as_soon_as_the_target_has_gone_on() {
    let model = models::smollm2("Q4_0");
    let prompt = prompt(&model, PROMPTS[0]);
    let text = text_of(&model, &prompt, 8);
    let mut target = target(&model, 1);
    target
        .decode(&text[..prompt.len()], Outputs::None)
        .expect("room");
    let mut late = drafter(&target.features(), N_CTX);
    assert!(draft(&mut late, &text[..prompt.len() + 1], 3).is_empty());
    target
        .decode(&text[prompt.len()..prompt.len() + 2], Outputs::All)
        .expect("room");
    assert_eq!(draft(&mut late, &text[..prompt.len() + 3], 3).len(), 3);
}

#[test]
fn a_head_keeps_what_it_borrows_alive() {
    let model = models::smollm2("Q4_0");
    let prompt = prompt(&model, PROMPTS[0]);
    let mut target = target(&model, 1);
    let features = target.features();
    let mut drafter = drafter(&features, N_CTX);
    target.decode(&prompt, Outputs::None).expect("room");
    drop((target, model));
    // On another thread, too: its context and the borrowed weights move.
    let drafted = std::thread::spawn(move || {
        let history = [&prompt[..], &[TokenId(198)]].concat();
        draft(&mut drafter, &history, 3).len()
    });
    assert_eq!(drafted.join().expect("no panic"), 3);
}

#[test]
fn sampled_drafts_never_leave_the_drafts_vocabulary() {
    let model = models::smollm2("Q4_0");
    let (mut session, _) = session(&model, &[head("head", None)]);
    let prompt = prompt(&model, PROMPTS[2]);
    set_policy(&mut session, "fixed:head");
    let params = GenerateParams {
        sampling: SamplingParams {
            temperature: 1.2,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            seed: 3,
            ..SamplingParams::default()
        },
        ..limited(40)
    };
    let mut divergences = Vec::new();
    let mut observe = |event: Event<'_>| {
        if let Event::Round(round) = event {
            divergences.extend(round.tv.iter().copied());
        }
    };
    let generation = session
        .generate(&prompt, &params, &AtomicBool::new(false), &mut observe)
        .expect("a generation");
    assert!(
        generation.drafters[0].failure.is_none(),
        "{:?}",
        generation.drafters
    );
    assert!(generation.drafters[0].drafted > 20);
    assert!(
        divergences.iter().all(|tv| (0.0..=1.0).contains(tv)),
        "{divergences:?}"
    );
}

#[test]
fn the_pools_of_heads_and_of_small_models_are_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models");
    let names = |file: &str| -> Vec<(String, &str)> {
        let pool = PoolFile::load(&folder.join(file)).expect("a valid pool");
        assert!(pool.target.is_some(), "{file}");
        let drafters = pool.drafters.iter();
        let named = drafters.map(|drafter| {
            let source = &drafter.source;
            if let Some(path) = source.path() {
                let bytes = std::fs::metadata(path).expect("a shipped file").len();
                assert!(bytes <= 14_000_000, "{}: {bytes} bytes", drafter.name);
            }
            (drafter.name.clone(), source.kind().name())
        });
        named.collect()
    };
    const DOMAINS: [&str; 5] = ["code", "math", "qa", "summarization", "translation"];
    let heads = ["general"].into_iter().chain(DOMAINS);
    let heads: Vec<_> = heads
        .map(|name| (format!("eagle-{name}"), "eagle3"))
        .collect();
    assert_eq!(names("pool-eagle.toml"), heads);
    let small = DOMAINS.into_iter().chain(["general"]);
    let mut small: Vec<_> = small.map(|name| (name.to_owned(), "model")).collect();
    small.push(("ngram".to_owned(), "ngram"));
    assert_eq!(names("pool-sps.toml"), small);
}

#[test]
fn a_file_is_told_to_be_a_head_by_its_architecture() {
    assert!(metasd::drafter::is_head(&heads::head("general")));
    assert!(!metasd::drafter::is_head(Path::new("Cargo.toml")));
    let small = models::cached("drafters/pruned.gguf");
    assert!(!metasd::drafter::is_head(&small));
}
