//! Counterfactual feedback and what is carried from one generation to the next, in the engine on
//! scripted models.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::bandit::PolicyParams;
use metasd::drafter::{Draft, DraftTimes, Drafter, DrafterKind};
use metasd::llama::SamplerChain;
use metasd::pool::Pool;
use metasd::scripted::{ScriptedDrafter, ScriptedTarget, ScriptedVocabulary};
use metasd::session::{Event, GenerateParams, Generation, RoundRecord, Session, SessionParams};
use metasd::{Result, TokenId};
use rand::Rng;

const N_VOCAB: usize = 9;

/// Logits that depend on the last three tokens, the flatter the smaller `scale`. With another
/// `twist` other tokens are likely.
fn logits(text: &[TokenId], scale: f32, twist: usize) -> Vec<f32> {
    let last = text.iter().rev().take(3).enumerate();
    let sum: usize = last.map(|(i, token)| (3 - i) * token.index()).sum();
    (0..N_VOCAB)
        .map(|token| scale * ((5 * sum + 7 * token + twist * (sum % 4)) % N_VOCAB) as f32)
        .collect()
}

fn drafter(scale: f32, twist: usize) -> ScriptedDrafter {
    ScriptedDrafter::new(Box::new(move |text| logits(text, scale, twist)))
}

fn certain(twist: usize) -> ScriptedDrafter {
    ScriptedDrafter::one_hot(Box::new(move |text| logits(text, 1.0, twist)))
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let exps: Vec<f64> = logits.iter().map(|&x| f64::from(x).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}

struct Setup {
    pool: Pool,
    params: SessionParams,
}

impl Setup {
    fn new(policy: &str) -> Self {
        let mut pool = Pool::default();
        pool.add("near", Box::new(drafter(0.8, 0)));
        pool.add("far", Box::new(drafter(0.8, 2)));
        pool.add("certain", Box::new(certain(0)));
        Self {
            pool,
            params: SessionParams {
                policy: policy.parse().expect("a known policy"),
                ..SessionParams::default()
            },
        }
    }

    fn open(self) -> Session {
        let target = ScriptedTarget::new(N_VOCAB, 2000, Box::new(|text| logits(text, 1.0, 0)));
        Session::new(
            Box::new(target),
            Arc::new(ScriptedVocabulary::letters(N_VOCAB)),
            self.pool,
            self.params,
        )
        .expect("valid parameters")
    }
}

fn generate(session: &mut Session, params: &GenerateParams) -> (Generation, Vec<RoundRecord>) {
    let mut rounds = Vec::new();
    let generation = session
        .generate(
            &[TokenId(1), TokenId(4)],
            params,
            &AtomicBool::new(false),
            &mut |event| {
                if let Event::Round(record) = event {
                    rounds.push(record.clone());
                }
            },
        )
        .expect("a valid prompt");
    (generation, rounds)
}

fn limited(max_tokens: usize) -> GenerateParams {
    GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    }
}

#[test]
fn hedge_is_told_every_drafters_agreement_on_what_each_round_committed() {
    let mut session = Setup::new("hedge").open();
    // Sampled, so that good drafts are rejected too.
    let mut params = limited(80);
    params.sampling.temperature = 1.5;
    let (_, rounds) = generate(&mut session, &params);
    let text = session.history().to_vec();
    let agreement = |name: &str, end: usize| {
        let text = &text[..end];
        let p = softmax(&logits(text, 1.0, 0));
        let q = match name {
            "near" => softmax(&logits(text, 0.8, 0)),
            "far" => softmax(&logits(text, 0.8, 2)),
            _ => {
                let q = logits(text, 1.0, 0);
                let best = q.iter().copied().fold(f32::MIN, f32::max);
                let first = q.iter().position(|&x| x == best);
                (0..N_VOCAB)
                    .map(|x| f64::from(u8::from(Some(x) == first)))
                    .collect()
            }
        };
        p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum::<f64>()
    };
    let mut position = 2;
    let mut whole_drafts = 0;
    for round in &rounds {
        let ends = position..position + round.committed;
        position += round.committed;
        if round.drafter.is_none() {
            assert!(round.counterfactual.is_empty(), "{round:?}");
            continue;
        }
        whole_drafts += usize::from(round.accepted == round.drafted);
        for name in ["near", "far", "certain"] {
            let sum: f64 = ends.clone().map(|end| agreement(name, end)).sum();
            let expected = sum / round.committed as f64;
            let found = round.counterfactual[name];
            assert!((found - expected).abs() < 1e-5, "{name} {round:?}");
        }
    }
    assert_eq!(position, text.len());
    assert!(
        whole_drafts > 0 && whole_drafts < rounds.len(),
        "{rounds:?}"
    );
}

#[test]
fn nothing_is_scored_for_a_policy_that_does_not_ask() {
    let mut setup = Setup::new("metasd-ucb");
    setup.pool = Pool::default();
    for name in ["a", "b"] {
        let never_asked = drafter(0.8, 1).failing_after_beliefs(0);
        setup.pool.add(name, Box::new(never_asked));
    }
    let (generation, rounds) = generate(&mut setup.open(), &limited(40));
    assert_eq!(generation.timings.counterfactual_ms, 0.0);
    for round in rounds {
        assert!(round.counterfactual.is_empty() && round.counterfactual_us == 0);
    }
    assert!(
        generation
            .drafters
            .iter()
            .all(|drafter| drafter.failure.is_none())
    );
}

#[test]
fn metasd_ucb_scores_all_drafters_in_its_first_rounds_alone_and_need_not_try_each() {
    for policy in ["metasd-ucb", "sw-ucb", "d-ucb"] {
        let mut setup = Setup::new(policy);
        setup.params.policy_params.counterfactual = 3;
        setup.params.policy_params.beta = Some(0.0);
        let (generation, rounds) = generate(&mut setup.open(), &limited(60));
        assert!(generation.timings.counterfactual_ms > 0.0);
        for (index, round) in rounds.iter().enumerate() {
            let scored = if index < 3 { 3 } else { 0 };
            assert_eq!(round.counterfactual.len(), scored, "{policy} {round:?}");
        }
        assert_eq!(generation.drafters[1].rounds, 0, "{policy}");
    }
}

#[test]
fn a_drafter_that_cannot_tell_what_it_believes_leaves_the_pool_and_the_text_is_the_same() {
    let (plain, _) = generate(&mut Setup::new("off").open(), &limited(60));
    let mut setup = Setup::new("hedge");
    setup.pool.add(
        "failing",
        Box::new(drafter(0.9, 0).failing_after_beliefs(2)),
    );
    let mut session = setup.open();
    let mut left = Vec::new();
    let generation = session
        .generate(
            &[TokenId(1), TokenId(4)],
            &limited(60),
            &AtomicBool::new(false),
            &mut |event| {
                if let Event::DrafterLeft { name, error } = event {
                    left.push(format!("{name}: {error}"));
                }
            },
        )
        .expect("a valid prompt");
    assert_eq!(generation.tokens, plain.tokens);
    assert_eq!(left, ["failing: the script ends here"]);
    assert!(generation.drafters[3].failure.is_some());
    assert!(session.policy_state().arms[3].retired);
}

/// A drafter of which nothing but drafts can be had.
struct Mute(ScriptedDrafter);

impl Drafter for Mute {
    fn kind(&self) -> DrafterKind {
        self.0.kind()
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        self.0.draft(history, max, chain, rng, draft)
    }

    fn rollback(&mut self, len: usize) -> Result<()> {
        self.0.rollback(len)
    }
}

#[test]
fn a_drafter_that_cannot_be_scored_has_no_entry_and_stays() {
    let mut setup = Setup::new("hedge");
    setup.pool.add("mute", Box::new(Mute(drafter(0.9, 3))));
    let (generation, rounds) = generate(&mut setup.open(), &limited(120));
    assert!(
        generation
            .drafters
            .iter()
            .all(|drafter| drafter.failure.is_none())
    );
    let mut mute_alone = 0;
    for round in rounds.iter().filter(|round| round.drafted > 0) {
        let known = round.drafter.as_deref() == Some("mute") && round.committed <= round.drafted;
        assert_eq!(
            round.counterfactual.contains_key("mute"),
            known,
            "{round:?}"
        );
        mute_alone += usize::from(known);
    }
    assert!(mute_alone > 0);
}

/// Rounds of the drafter `far` in each of two generations.
fn rounds_of_far(carry: Option<f64>) -> [usize; 2] {
    let mut setup = Setup::new("metasd-ucb");
    setup.params.carry = carry;
    setup.params.policy_params.beta = Some(0.02);
    let mut session = setup.open();
    [(); 2].map(|()| generate(&mut session, &limited(60)).0.drafters[1].rounds)
}

#[test]
fn what_was_learnt_is_carried_over_when_asked() {
    let [first, second] = rounds_of_far(None);
    assert_eq!(first, second);
    assert!(first >= 1);
    assert_eq!(rounds_of_far(Some(1.0)), [first, 0]);
}

#[test]
fn a_policy_that_comes_back_goes_on_with_what_it_had_learnt_if_that_is_carried() {
    for (carry, expected) in [(None, false), (Some(0.5), true)] {
        let mut setup = Setup::new("metasd-ucb");
        setup.params.carry = carry;
        let mut session = setup.open();
        generate(&mut session, &limited(60));
        let learnt = session.policy_state();
        for policy in ["round-robin", "metasd-ucb", "metasd-ucb"] {
            let policy = policy.parse().expect("a known policy");
            session
                .set_policy(policy, PolicyParams::default())
                .expect("a known policy");
        }
        assert_eq!(session.policy_state() == learnt, expected, "{carry:?}");
        let other = PolicyParams {
            beta: Some(0.5),
            ..PolicyParams::default()
        };
        session
            .set_policy("metasd-ucb".parse().expect("a known policy"), other)
            .expect("a known policy");
        assert_eq!(session.policy_state().t, 0);
    }
}

#[test]
fn a_discount_outside_its_range_is_refused() {
    for discount in [0.0, -0.5, 1.5, f64::NAN] {
        let mut setup = Setup::new("hedge");
        setup.params.carry = Some(discount);
        let target = ScriptedTarget::new(N_VOCAB, 100, Box::new(|text| logits(text, 1.0, 0)));
        let vocabulary = Arc::new(ScriptedVocabulary::letters(N_VOCAB));
        let opened = Session::new(Box::new(target), vocabulary, setup.pool, setup.params);
        let message = opened.expect_err("out of range").to_string();
        assert!(message.starts_with("carry is"), "{message}");
    }
}
