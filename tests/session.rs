//! The engine end to end on a scripted target and drafters: no model, every corner.

#[path = "support/scripts.rs"]
mod scripts;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::llama::SamplingParams;
use metasd::pool::Pool;
use metasd::scripted::{ScriptedDrafter, ScriptedTarget, ScriptedVocabulary};
use metasd::session::{
    Event, GenerateParams, Generation, Session, SessionParams, StopReason, Vocabulary,
};
use metasd::{ErrorKind, TokenId};
use scripts::{N_VOCAB, counting, half_right};

struct Setup {
    target: ScriptedTarget,
    vocabulary: ScriptedVocabulary,
    pool: Pool,
    params: SessionParams,
}

impl Setup {
    fn new() -> Self {
        let mut pool = Pool::default();
        pool.add("right", Box::new(ScriptedDrafter::new(counting(1))));
        pool.add("half", Box::new(ScriptedDrafter::new(half_right())));
        pool.add("wrong", Box::new(ScriptedDrafter::one_hot(counting(3))));
        Self {
            target: ScriptedTarget::new(N_VOCAB, 1000, counting(1)),
            vocabulary: ScriptedVocabulary::letters(N_VOCAB),
            pool,
            params: SessionParams::default(),
        }
    }

    fn policy(mut self, policy: &str) -> Self {
        self.params.policy = policy.parse().expect("a known policy");
        self
    }

    fn open(self) -> Session {
        Session::new(
            Box::new(self.target),
            Arc::new(self.vocabulary),
            self.pool,
            self.params,
        )
        .expect("valid parameters")
    }
}

fn tokens(ids: &[i32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId).collect()
}

fn limited(max_tokens: usize) -> GenerateParams {
    GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    }
}

fn generate(session: &mut Session, params: &GenerateParams) -> Generation {
    session
        .generate(&tokens(&[0]), params, &AtomicBool::new(false), &mut |_| {})
        .expect("a valid prompt")
}

/// Whether the policy needs a router, or a target for several drafts.
fn needs_more(policy: &str) -> bool {
    let spec: PolicySpec = policy.parse().expect("a known policy");
    spec.needs_models()
}

#[test]
fn every_policy_gives_what_plain_decoding_gives() {
    let plain = generate(&mut Setup::new().policy("off").open(), &limited(50));
    assert_eq!(plain.tokens.len(), 50);
    assert_eq!(plain.rounds, 50);
    let fixed = ["fixed:right", "fixed:half", "fixed:wrong"];
    let all = PolicySpec::KNOWN
        .iter()
        .filter(|policy| **policy != "fixed:NAME" && !needs_more(policy))
        .chain(&fixed);
    for policy in all {
        let speculated = generate(&mut Setup::new().policy(policy).open(), &limited(50));
        assert_eq!(speculated.tokens, plain.tokens, "{policy}");
        assert_eq!(speculated.text, plain.text, "{policy}");
    }
}

#[test]
fn a_perfect_drafter_needs_a_round_for_every_n_max_and_one_tokens() {
    let generation = generate(&mut Setup::new().policy("fixed:right").open(), &limited(60));
    assert_eq!(generation.rounds, 10);
    assert_eq!(generation.timings.draft_n, 50);
    assert_eq!(generation.timings.draft_n_accepted, 50);
    assert!((generation.mean_acceptance_length() - 6.0).abs() < 1e-12);
}

#[test]
fn ucb_settles_on_the_drafter_that_agrees() {
    let generation = generate(&mut Setup::new().policy("metasd-ucb").open(), &limited(300));
    let right = &generation.drafters[0];
    assert!(
        right.rounds * 10 > generation.rounds * 9,
        "{:?}",
        generation.drafters
    );
    assert!(right.mean_bd.expect("it drafted") > 0.999);
    assert!(generation.drafters[2].mean_bd.expect("it drafted") < 0.1);
}

#[test]
fn the_budget_is_exact_however_the_rounds_fall() {
    for budget in 1..20 {
        let generation = generate(
            &mut Setup::new().policy("fixed:right").open(),
            &limited(budget),
        );
        assert_eq!(generation.tokens.len(), budget);
        assert_eq!(generation.stop_reason, StopReason::Limit);
    }
    let none = generate(&mut Setup::new().open(), &limited(0));
    assert_eq!((none.tokens.len(), none.rounds), (0, 0));
}

#[test]
fn the_text_ends_at_an_end_of_generation_token_inside_a_draft() {
    let mut setup = Setup::new().policy("fixed:right");
    setup.vocabulary.eog = Some(TokenId(4));
    let mut session = setup.open();
    let generation = generate(&mut session, &limited(50));
    assert_eq!(generation.tokens, tokens(&[1, 2, 3, 4]));
    assert_eq!(generation.text, "bcd");
    assert_eq!(generation.stop_reason, StopReason::Eos);
    assert_eq!(session.history(), tokens(&[0, 1, 2, 3, 4]));
    let going_on = GenerateParams {
        ignore_eos: true,
        ..limited(6)
    };
    assert_eq!(generate(&mut session, &going_on).tokens.len(), 6);
}

#[test]
fn the_rounds_of_a_trace_add_up_to_the_text() {
    let mut setup = Setup::new().policy("round-robin");
    setup.vocabulary.eog = Some(TokenId(6));
    let (mut committed, mut drafted) = (0, 0);
    let generation = setup
        .open()
        .generate(
            &tokens(&[0]),
            &limited(50),
            &AtomicBool::new(false),
            &mut |event| {
                if let Event::Round(record) = event {
                    committed += record.committed;
                    drafted += record.drafted;
                    assert_eq!(record.tv.len(), record.drafted);
                }
            },
        )
        .expect("a valid prompt");
    assert_eq!(generation.stop_reason, StopReason::Eos);
    assert_eq!(committed, generation.tokens.len());
    assert_eq!(drafted, generation.timings.draft_n);
}

#[test]
fn a_stop_string_over_two_tokens_ends_the_text_before_it() {
    let params = GenerateParams {
        stop: vec!["ef".into()],
        ..limited(50)
    };
    for policy in ["off", "fixed:right", "fixed:half"] {
        let generation = generate(&mut Setup::new().policy(policy).open(), &params);
        assert_eq!(generation.text, "bcd", "{policy}");
        assert_eq!(generation.stop_reason, StopReason::Word);
        assert_eq!(generation.tokens, tokens(&[1, 2, 3, 4, 5]));
    }
}

#[test]
fn the_end_of_the_context_is_a_reason_to_stop_and_no_error() {
    for policy in ["off", "fixed:right", "fixed:wrong"] {
        let mut setup = Setup::new().policy(policy);
        setup.target = ScriptedTarget::new(N_VOCAB, 20, counting(1));
        let generation = generate(&mut setup.open(), &GenerateParams::default());
        assert_eq!(generation.stop_reason, StopReason::Context, "{policy}");
        // The context holds 20 tokens; the last one generated was not decoded any more.
        assert_eq!(generation.tokens.len(), 20, "{policy}");
    }
}

#[test]
fn a_drafter_that_fails_leaves_the_pool_and_the_text_goes_on() {
    let plain = generate(&mut Setup::new().policy("off").open(), &limited(40));
    for policy in ["fixed:frail", "round-robin", "metasd-ucb"] {
        let mut setup = Setup::new();
        setup.pool.add(
            "frail",
            Box::new(ScriptedDrafter::new(counting(1)).failing_after(1)),
        );
        let mut session = setup.policy(policy).open();
        let mut left = Vec::new();
        let generation = session
            .generate(
                &tokens(&[0]),
                &limited(40),
                &AtomicBool::new(false),
                &mut |event| {
                    if let Event::DrafterLeft { name, error } = event {
                        left.push((name.to_owned(), error.to_string()));
                    }
                },
            )
            .expect("the text goes on");
        assert_eq!(generation.tokens, plain.tokens, "{policy}");
        assert_eq!(
            left,
            [("frail".to_owned(), "the script ends here".to_owned())]
        );
        assert!(generation.drafters[3].failure.is_some());
        // It stays out in the next generation.
        let again = generate(&mut session, &limited(40));
        assert_eq!(again.tokens, plain.tokens);
        assert_eq!(again.drafters[3].rounds, 0);
    }
}

#[test]
fn a_drafter_with_nan_logits_leaves_the_pool_and_the_text_goes_on() {
    let plain = generate(&mut Setup::new().policy("off").open(), &limited(20));
    let mut setup = Setup::new();
    setup.pool.add(
        "nan",
        Box::new(ScriptedDrafter::new(Box::new(|_| vec![f32::NAN; N_VOCAB]))),
    );
    let generation = generate(&mut setup.policy("fixed:nan").open(), &limited(20));
    assert_eq!(generation.tokens, plain.tokens);
    let failure = generation.drafters[3].failure.as_deref().expect("it left");
    assert!(failure.contains("NaN"), "{failure}");
}

#[test]
fn a_failing_target_ends_the_text_with_what_there_is() {
    let mut setup = Setup::new().policy("fixed:right");
    setup.target = ScriptedTarget::new(N_VOCAB, 1000, counting(1)).failing_after(3);
    let mut session = setup.open();
    let generation = generate(&mut session, &limited(100));
    assert_eq!(generation.stop_reason, StopReason::Error);
    assert_eq!(generation.tokens.len(), 18);
    assert_eq!(generation.text.len(), 18);
    let error = generation.error.expect("why it stopped");
    assert_eq!(error.kind(), ErrorKind::Backend);
}

#[test]
fn nan_in_the_targets_logits_is_an_error_with_the_text_so_far() {
    let mut setup = Setup::new().policy("fixed:right");
    setup.target = ScriptedTarget::new(
        N_VOCAB,
        1000,
        Box::new(|text| {
            if text.len() > 10 {
                return vec![f32::NAN; N_VOCAB];
            }
            counting(1)(text)
        }),
    );
    let generation = generate(&mut setup.open(), &limited(100));
    assert_eq!(generation.stop_reason, StopReason::Error);
    let error = generation.error.expect("why it stopped");
    assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
    assert_eq!(generation.tokens.len(), 6);
}

#[test]
fn a_cancelled_generation_keeps_its_text_and_the_next_one_works() {
    let mut session = Setup::new().policy("fixed:right").open();
    let cancel = AtomicBool::new(false);
    let generation = session
        .generate(&tokens(&[0]), &limited(100), &cancel, &mut |event| {
            if matches!(event, Event::Round(record) if record.round == 3) {
                cancel.store(true, Ordering::Relaxed);
            }
        })
        .expect("cancelling is no error");
    assert_eq!(generation.stop_reason, StopReason::Cancelled);
    assert_eq!(generation.tokens.len(), 18);
    assert_eq!(generate(&mut session, &limited(30)).tokens.len(), 30);
}

#[test]
fn statistics_start_afresh_and_the_common_prefix_is_reused() {
    let mut session = Setup::new().policy("round-robin").open();
    let first = generate(&mut session, &limited(30));
    let mut prompt = session.history().to_vec();
    prompt.extend(tokens(&[6, 6, 6]));
    let second = session
        .generate(&prompt, &limited(30), &AtomicBool::new(false), &mut |_| {})
        .expect("a valid prompt");
    assert_eq!(second.timings.cache_n, 30);
    assert_eq!(second.timings.prompt_n, 4);
    // As if the second had been alone.
    let alone = Setup::new()
        .policy("round-robin")
        .open()
        .generate(&prompt, &limited(30), &AtomicBool::new(false), &mut |_| {})
        .expect("a valid prompt");
    assert_eq!(second.tokens, alone.tokens);
    let counts = |generation: &Generation| {
        generation
            .drafters
            .iter()
            .map(|drafter| (drafter.rounds, drafter.drafted, drafter.accepted))
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&second), counts(&alone));
    assert_eq!(first.tokens.len(), 30);
}

#[test]
fn the_streamed_text_is_the_text_and_says_who_proposed_it() {
    let mut session = Setup::new().policy("fixed:half").open();
    let mut streamed = String::new();
    let mut proposed = 0;
    let generation = session
        .generate(
            &tokens(&[0]),
            &limited(40),
            &AtomicBool::new(false),
            &mut |event| {
                if let Event::Text { text, drafter } = event {
                    streamed.push_str(text);
                    proposed += drafter.map_or(0, |_| text.len());
                }
            },
        )
        .expect("a valid prompt");
    assert_eq!(streamed, generation.text);
    assert_eq!(proposed, generation.timings.draft_n_accepted);
}

#[test]
fn the_same_seed_gives_the_same_sample_and_another_seed_another() {
    let sample = |seed| {
        let mut setup = Setup::new().policy("random");
        setup.target = ScriptedTarget::new(N_VOCAB, 1000, Box::new(|_| vec![0.0; N_VOCAB]));
        let params = GenerateParams {
            sampling: SamplingParams {
                temperature: 1.0,
                seed,
                ..SamplingParams::default()
            },
            ..limited(40)
        };
        generate(&mut setup.open(), &params).tokens
    };
    assert_eq!(sample(1), sample(1));
    assert_ne!(sample(1), sample(2));
}

#[test]
fn bad_parameters_are_refused_with_the_name_of_the_field() {
    let mut session = Setup::new().open();
    let refused = |session: &mut Session, prompt: &[i32], params: &GenerateParams| {
        session
            .generate(
                &tokens(prompt),
                params,
                &AtomicBool::new(false),
                &mut |_| {},
            )
            .expect_err("refused")
    };
    let empty = refused(&mut session, &[], &limited(5));
    assert_eq!(empty.kind(), ErrorKind::InvalidArgument);
    let long = refused(&mut session, &[1; 1001], &limited(5));
    assert_eq!(long.kind(), ErrorKind::ContextOverflow);
    let mut hot = limited(5);
    hot.sampling.temperature = f32::NAN;
    assert!(
        refused(&mut session, &[0], &hot)
            .to_string()
            .contains("temp")
    );
    let mut top_p = limited(5);
    top_p.sampling.top_p = 0.0;
    assert!(
        refused(&mut session, &[0], &top_p)
            .to_string()
            .contains("top-p")
    );
    for n_max in [0, 16] {
        let error = session.set_n_max(n_max).expect_err("refused");
        assert!(error.to_string().contains("spec-draft-n-max"), "{error}");
    }
    session.set_n_max(15).expect("it fits the batch");
    let unknown = session
        .set_policy(PolicySpec::Fixed("nobody".into()), PolicyParams::default())
        .expect_err("refused");
    assert!(unknown.to_string().contains("right"), "{unknown}");
    // A refused call leaves a session that works.
    assert_eq!(generate(&mut session, &limited(10)).tokens.len(), 10);
}

#[test]
fn the_scripted_vocabulary_spells_its_tokens() {
    assert_eq!(ScriptedVocabulary::letters(3).piece(TokenId(2)), b"c");
}
