//! A recording says what the engine does, and a replay of it makes the engine's choices: on
//! scripted models to the last bit, and on the real ones.

#[path = "support/heads.rs"]
mod heads;
#[path = "support/models.rs"]
mod models;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::bandit::{self, PolicyParams, PolicySpec, Reward};
use metasd::llama::{ChatMessage, ContextParams, SamplingParams};
use metasd::pool::{DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults};
use metasd::record::{Header, Source, Text};
use metasd::recorder::{Recorder, RecorderParams};
use metasd::scripted::{Script, ScriptedDrafter, ScriptedTarget, ScriptedVocabulary};
use metasd::session::{Event, GenerateParams, RoundRecord, Session, SessionParams};
use metasd::sim::{Query, Replay};
use metasd::target::{LlamaTarget, Target};
use metasd::{ErrorKind, TokenId};

const N_VOCAB: usize = 12;

/// A number that is determined by `values` and looks like chance.
fn mix(values: &[u64]) -> u64 {
    values
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15, |state: u64, value| {
            let state = (state ^ value).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state ^ (state >> 29)
        })
}

/// Logits that depend on the last two tokens; where `salt` is not 0, with another favourite at
/// `wrong` of ten places.
fn script(salt: u64, wrong: u64) -> Script {
    Box::new(move |text| {
        let [.., a, b] = [&[TokenId(0)], text].concat()[..] else {
            return vec![0.0; N_VOCAB];
        };
        let place = mix(&[a.index() as u64, b.index() as u64]);
        let mut logits: Vec<f32> = (0..N_VOCAB as u64)
            .map(|token| (mix(&[place, token]) % 1000) as f32 / 250.0)
            .collect();
        if mix(&[place, salt]) % 10 < wrong {
            logits[(mix(&[place, salt, 1]) % N_VOCAB as u64) as usize] += 5.0;
        }
        logits
    })
}

fn scripted_target(n_ctx: usize) -> ScriptedTarget {
    ScriptedTarget::new(N_VOCAB, n_ctx, script(0, 0))
}

fn scripted_pool() -> Pool {
    let mut pool = Pool::default();
    pool.add("good", Box::new(ScriptedDrafter::new(script(1, 2))));
    pool.add("poor", Box::new(ScriptedDrafter::new(script(2, 7))));
    pool.add("sure", Box::new(ScriptedDrafter::one_hot(script(3, 4))));
    pool
}

/// The header of a recording of one prompt.
fn header(names: Vec<String>, params: RecorderParams, n_ctx: usize) -> Header {
    let source = |name: String| Source {
        name,
        kind: "model".into(),
        sha256: None,
    };
    Header {
        target: source("target".into()),
        drafters: names.into_iter().map(source).collect(),
        n_max: params.n_max,
        n_predict: params.n_predict,
        n_ctx,
        reward_temperature: params.reward_temperature,
        seed: params.seed,
        categories: vec!["all".into()],
        prompts: 1,
        prompts_sha256: String::new(),
    }
}

fn params(n_predict: usize) -> RecorderParams {
    RecorderParams {
        n_max: 5,
        n_predict,
        reward_temperature: 1.0,
        seed: 0,
    }
}

/// The rounds of a generation of `session` with `policy`, and its tokens.
fn live(
    session: &mut Session,
    prompt: &[TokenId],
    policy: (&PolicySpec, &PolicyParams),
    (n_predict, seed): (usize, u64),
) -> (Vec<RoundRecord>, Vec<TokenId>) {
    session
        .set_policy(policy.0.clone(), policy.1.clone())
        .expect("a policy of these drafters");
    let params = GenerateParams {
        max_tokens: Some(n_predict),
        sampling: SamplingParams {
            seed,
            ..SamplingParams::default()
        },
        ..GenerateParams::default()
    };
    let mut rounds = Vec::new();
    let generation = session
        .generate(prompt, &params, &AtomicBool::new(false), &mut |event| {
            if let Event::Round(round) = event {
                rounds.push(round.clone());
            }
        })
        .expect("a valid prompt");
    (rounds, generation.tokens)
}

/// Checks that the rounds of the engine are those of the replay, with rewards and agreements that
/// differ by at most `tolerance`.
fn assert_same(
    header: &Header,
    text: &Text,
    rounds: &[RoundRecord],
    replay: &Replay,
    tolerance: f64,
) {
    let names = header.names();
    let replayed: Vec<Option<&str>> = (replay.choices.iter())
        .map(|choice| choice.map(|arm| names[arm.0].as_str()))
        .collect();
    let played: Vec<Option<&str>> = rounds
        .iter()
        .map(|round| round.drafter.as_deref())
        .collect();
    assert_eq!(replayed, played);
    let mut position = 0;
    for (round, choice) in rounds.iter().zip(&replay.choices) {
        let committed = position..position + round.committed;
        for (name, score) in &round.counterfactual {
            let arm = names.iter().position(|known| known == name);
            let arm = arm.expect("a drafter of the recording");
            let agreements = (committed.clone()).map(|at| text.at(at)[arm].agreement());
            let recorded = agreements.sum::<f64>() / round.committed as f64;
            // Single precision, summed in another order.
            let tolerance = tolerance.max(1e-6);
            assert!(
                (score - recorded).abs() <= tolerance,
                "{name} at {committed:?}: {score} {recorded}"
            );
        }
        if let Some(arm) = choice {
            let attempt = text.at(position)[arm.0];
            assert_eq!(
                (round.drafted, round.accepted),
                (attempt.drafted, attempt.accepted),
                "at position {position}"
            );
            let bd = round.bd.unwrap_or(0.0);
            assert!((bd - attempt.bd).abs() <= tolerance, "{bd} {}", attempt.bd);
        }
        position += round.committed;
    }
    assert_eq!(position, text.tokens.len());
}

/// Every policy that chooses one drafter a round.
fn policies() -> Vec<PolicySpec> {
    let several = ["static-ensemble", "draft-all", "router"];
    PolicySpec::KNOWN
        .iter()
        .filter(|name| !several.iter().any(|several| name.starts_with(several)))
        .map(|name| name.replace("NAME", "poor").parse().expect("known"))
        .collect()
}

#[test]
fn on_scripted_models_every_policy_replays_as_it_was_played() {
    let prompt: Vec<TokenId> = [3, 1, 4].map(TokenId).to_vec();
    // The budget, the context and an end-of-generation token end the text, in this order; and the
    // candidates fit one tree, need several, or go one by one.
    let cases = [
        (60, 1000, None, (3, 16)),
        (1, 1000, None, (3, 16)),
        (60, 40, None, (2, 8)),
        (60, 1000, Some(TokenId(7)), (0, 16)),
    ];
    for (n_predict, n_ctx, eog, (candidates, nodes)) in cases {
        let mut vocabulary = ScriptedVocabulary::letters(N_VOCAB);
        vocabulary.eog = eog;
        let mut target = scripted_target(n_ctx).with_trees(candidates, nodes);
        let mut pool = scripted_pool();
        let header = header(pool.names(), params(n_predict), n_ctx);
        let text = Recorder::new(&mut target, &mut pool, &vocabulary, params(n_predict))
            .expect("valid")
            .text(&prompt, 0, &AtomicBool::new(false), &mut |_| {})
            .expect("recorded");
        let query = Query::new(&header, [&text]);
        let mut session = Session::new(
            Box::new(scripted_target(n_ctx)),
            Arc::new(vocabulary),
            scripted_pool(),
            SessionParams::default(),
        )
        .expect("valid");
        for policy in policies() {
            for (reward, counterfactual) in [(Reward::Bd, 0), (Reward::Be, 0), (Reward::Bd, 6)] {
                let with = PolicyParams {
                    reward,
                    counterfactual,
                    ..PolicyParams::default()
                };
                for seed in [0, 7] {
                    let limits = (n_predict, seed);
                    let (rounds, tokens) = live(&mut session, &prompt, (&policy, &with), limits);
                    assert_eq!(tokens, text.tokens, "{policy}");
                    let is_scored = |round: &&RoundRecord| !round.counterfactual.is_empty();
                    let scored = rounds.iter().filter(is_scored).count();
                    let asked = rounds.iter().filter(|round| round.drafter.is_some());
                    let expected = match &policy {
                        PolicySpec::Hedge => asked.count(),
                        PolicySpec::MetasdUcb | PolicySpec::SwUcb | PolicySpec::DUcb => {
                            asked.count().min(counterfactual)
                        }
                        _ => 0,
                    };
                    assert_eq!(scored, expected, "{policy}");
                    let names = header.names();
                    let mut policy = policy.build(&with, &names).expect("valid");
                    let mut rng = bandit::generator(seed);
                    let replay = query.play(&mut *policy, &mut rng).expect("playable");
                    assert_same(&header, &text, &rounds, &replay, 0.0);
                }
            }
        }
    }
}

#[test]
fn a_recording_that_cannot_be_made_says_why() {
    let vocabulary = ScriptedVocabulary::letters(N_VOCAB);
    let record = |target: &mut dyn Target, pool: &mut Pool, prompt: &[i32], cancel: bool| {
        let prompt: Vec<TokenId> = prompt.iter().copied().map(TokenId).collect();
        Recorder::new(target, pool, &vocabulary, params(20))
            .and_then(|mut recorder| {
                recorder.text(&prompt, 0, &AtomicBool::new(cancel), &mut |_| {})
            })
            .expect_err("refused")
    };
    let mut target = scripted_target(100).with_trees(3, 16);
    let mut pool = scripted_pool();
    let empty = record(&mut target, &mut pool, &[], false);
    assert_eq!(empty.kind(), ErrorKind::InvalidArgument);
    let long = record(&mut target, &mut pool, &[1; 101], false);
    assert_eq!(long.kind(), ErrorKind::ContextOverflow);
    let stopped = record(&mut target, &mut pool, &[1], true);
    assert_eq!(stopped.kind(), ErrorKind::Cancelled);
    let none = record(&mut target, &mut Pool::default(), &[1], false);
    assert!(none.to_string().contains("no drafters"), "{none}");
    let mut narrow = scripted_target(100).with_trees(3, 5);
    let narrow = record(&mut narrow, &mut pool, &[1], false);
    assert!(
        narrow.to_string().contains("spec-draft-n-max is 5"),
        "{narrow}"
    );
    pool.add(
        "frail",
        Box::new(ScriptedDrafter::new(script(1, 2)).failing_after(1)),
    );
    let frail = record(&mut target, &mut pool, &[1], false);
    assert!(
        frail
            .to_string()
            .contains("drafter `frail`: the script ends"),
        "{frail}"
    );
}

/// Prompts of different kinds, short enough for a test.
const PROMPTS: [&str; 2] = [
    "Write a Python function that returns the n-th Fibonacci number.",
    "Name three rivers in Europe and the countries that they flow through.",
];

#[test]
fn on_the_real_target_a_replay_makes_the_choices_of_the_engine() {
    const N_CTX: usize = 512;
    const N_PREDICT: usize = 40;
    let model = models::smollm2("F32");
    let mut drafters = models::drafters();
    drafters.push(DrafterSpec {
        name: "head".into(),
        source: DrafterSource::Eagle3 {
            path: heads::head("general"),
            n_ctx: None,
            threads: None,
            gpu_layers: None,
        },
    });
    let n_max = params(N_PREDICT).n_max;
    let mut target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: N_CTX,
            n_batch: 256,
            max_outputs: drafters.len() * n_max + 1,
            sequences: drafters.len() + 1,
            threads: 1,
        },
    )
    .expect("a context");
    let defaults = PoolDefaults {
        n_ctx: N_CTX,
        n_batch: 256,
        threads: 1,
    };
    let context = LoadContext::new(&model, defaults).with_features(target.features());
    let mut pool = Pool::open(&drafters, &context).expect("compatible drafters");
    let header = header(pool.names(), params(N_PREDICT), N_CTX);
    let mut recorder =
        Recorder::new(&mut target, &mut pool, &*model, params(N_PREDICT)).expect("valid");
    let mut session = models::session(&model, &drafters, N_CTX);
    let fixed = header
        .names()
        .into_iter()
        .map(|name| format!("fixed:{name}"));
    let learning = [
        "metasd-ucb",
        "sw-ucb",
        "exp3",
        "hedge",
        "thompson",
        "eps-greedy",
        "round-robin",
    ];
    let policies: Vec<String> = fixed.chain(learning.map(String::from)).collect();
    for prompt in PROMPTS {
        let prompt = model
            .apply_chat_template(&[ChatMessage::new("user", prompt)], true)
            .expect("a chat template");
        let prompt = model.tokenize(&prompt, true, true);
        let text = recorder
            .text(&prompt, 0, &AtomicBool::new(false), &mut |_| {})
            .expect("recorded");
        let query = Query::new(&header, [&text]);
        assert!(query.oracle_rounds() < text.tokens.len() as u64 / 2);
        let alone = policies.iter().map(|policy| (&**policy, 0));
        for (policy, counterfactual) in alone.chain([("metasd-ucb", 6)]) {
            let policy: PolicySpec = policy.parse().expect("known");
            let with = PolicyParams {
                counterfactual,
                ..PolicyParams::default()
            };
            let (rounds, tokens) = live(&mut session, &prompt, (&policy, &with), (N_PREDICT, 7));
            assert_eq!(tokens, text.tokens, "{policy}");
            let runs = query.runs(&policy, &with, [7]).expect("playable");
            println!("{policy}: {} rounds", runs[0].rounds());
            // Batches of other sizes round differently in the last bits.
            assert_same(&header, &text, &rounds, &runs[0], 0.01);
        }
    }
}
