//! Rounds in which all drafters take part, and the drafter that the prompt decides on, end to end
//! on scripted models.

#[path = "support/scripts.rs"]
mod scripts;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::pool::Pool;
use metasd::router::{Embedding, Fitting, LabelledPrompt, Router, TargetIdentity};
use metasd::scripted::{ScriptedDrafter, ScriptedTarget, ScriptedVocabulary};
use metasd::session::{
    Event, GenerateParams, Generation, RoundRecord, Session, SessionParams, StopReason,
};
use metasd::{Error, ErrorKind, TokenId};
use scripts::{N_VOCAB, counting, half_right};

const JOINT: [&str; 2] = ["static-ensemble", "draft-all"];

fn target(n_ctx: usize) -> ScriptedTarget {
    ScriptedTarget::new(N_VOCAB, n_ctx, counting(1)).with_trees(4, 21)
}

/// `wrong`, `right` and `half`, in this order.
fn pool() -> Pool {
    let mut pool = Pool::default();
    pool.add("wrong", Box::new(ScriptedDrafter::one_hot(counting(3))));
    pool.add("right", Box::new(ScriptedDrafter::new(counting(1))));
    pool.add("half", Box::new(ScriptedDrafter::new(half_right())));
    pool
}

fn open(target: ScriptedTarget, eog: Option<TokenId>, pool: Pool, policy: &str) -> Session {
    let vocabulary = ScriptedVocabulary {
        eog,
        ..ScriptedVocabulary::letters(N_VOCAB)
    };
    let params = SessionParams {
        policy: policy.parse().expect("a known policy"),
        ..SessionParams::default()
    };
    Session::new(Box::new(target), Arc::new(vocabulary), pool, params).expect("valid parameters")
}

fn session(pool: Pool, policy: &str) -> Session {
    open(target(1000), None, pool, policy)
}

fn limited(max_tokens: usize) -> GenerateParams {
    GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    }
}

fn generate(session: &mut Session, params: &GenerateParams) -> Generation {
    session
        .generate(&[TokenId(0)], params, &AtomicBool::new(false), &mut |_| {})
        .expect("a valid prompt")
}

/// A generation with its rounds and the names of the drafters that left.
fn observed(session: &mut Session, max: usize) -> (Generation, Vec<RoundRecord>, Vec<String>) {
    let (mut rounds, mut left) = (Vec::new(), Vec::new());
    let generation = session
        .generate(
            &[TokenId(0)],
            &limited(max),
            &AtomicBool::new(false),
            &mut |event| match event {
                Event::Round(record) => rounds.push(record.clone()),
                Event::DrafterLeft { name, .. } => left.push(name.to_owned()),
                _ => {}
            },
        )
        .expect("a valid prompt");
    (generation, rounds, left)
}

#[test]
fn the_text_is_that_of_plain_decoding_whatever_ends_it() {
    for policy in JOINT {
        for budget in 0..20 {
            let plain = generate(&mut session(pool(), "off"), &limited(budget));
            let joint = generate(&mut session(pool(), policy), &limited(budget));
            assert_eq!(joint.tokens, plain.tokens, "{policy}");
            assert_eq!(joint.stop_reason, StopReason::Limit, "{policy}");
        }
        for end in 0..N_VOCAB {
            let eog = Some(TokenId::from_index(end));
            let mut joint = open(target(1000), eog, pool(), policy);
            let plain = generate(&mut open(target(1000), eog, pool(), "off"), &limited(50));
            assert_eq!(
                generate(&mut joint, &limited(50)).tokens,
                plain.tokens,
                "{policy}"
            );
            assert_eq!(plain.stop_reason, StopReason::Eos);
            // The caches were cut back to the text, so that the next generation is right too.
            assert_eq!(
                generate(&mut joint, &limited(50)).tokens,
                plain.tokens,
                "{policy}"
            );
        }
        let mut small = open(target(20), None, pool(), policy);
        let full = generate(&mut small, &GenerateParams::default());
        assert_eq!(full.stop_reason, StopReason::Context, "{policy}");
        assert_eq!(full.tokens.len(), 20, "{policy}");
    }
}

#[test]
fn draft_all_follows_the_draft_that_goes_furthest_and_counts_every_drafter() {
    let (generation, rounds, _) = observed(&mut session(pool(), "draft-all"), 60);
    assert_eq!(generation.rounds, 10, "as with the right drafter alone");
    for round in &rounds {
        assert_eq!(round.drafter.as_deref(), Some("right"));
        assert_eq!((round.drafted, round.accepted), (5, 5));
        assert_eq!(round.tv.len(), 5);
        assert_eq!(round.be, Some(1.0));
    }
    let [wrong, right, half] = &generation.drafters[..] else {
        panic!("three drafters");
    };
    assert_eq!((wrong.rounds, wrong.drafted, wrong.accepted), (10, 50, 0));
    assert_eq!((right.rounds, right.drafted, right.accepted), (10, 50, 50));
    assert_eq!((half.rounds, half.drafted), (10, 50));
    assert!(half.accepted > 0 && half.accepted < 50, "{half:?}");
    assert!(right.mean_bd > half.mean_bd && half.mean_bd > wrong.mean_bd);
    assert_eq!(half.mean_be, Some(half.accepted as f64 / 50.0));
    assert_eq!(generation.timings.draft_n, 150);
    assert_eq!(generation.timings.draft_n_accepted, 50);
}

#[test]
fn where_no_draft_is_accepted_the_round_goes_by_the_first_drafter() {
    let mut pool = Pool::default();
    pool.add("a", Box::new(ScriptedDrafter::new(counting(3))));
    pool.add("b", Box::new(ScriptedDrafter::new(counting(2))));
    let (generation, rounds, _) = observed(&mut session(pool, "draft-all"), 10);
    assert_eq!(generation.rounds, 10);
    // In the last round the budget leaves nothing to draft.
    for round in &rounds[..9] {
        assert_eq!((round.drafter.as_deref(), round.accepted), (Some("a"), 0));
    }
    assert_eq!(rounds[9].drafter, None);
}

#[test]
fn an_ensemble_has_a_row_of_its_own_and_its_members_none() {
    let mut session = session(pool(), "static-ensemble");
    let names = ["wrong", "right", "half", "static-ensemble"];
    assert_eq!(session.proposers(), names);
    let (generation, rounds, _) = observed(&mut session, 40);
    let shown: Vec<&str> = generation.drafters.iter().map(|d| &*d.name).collect();
    assert_eq!(shown, names);
    assert!(generation.drafters[..3].iter().all(|d| d.rounds == 0));
    let ensemble = &generation.drafters[3];
    assert_eq!(ensemble.kind, "ensemble");
    assert_eq!(ensemble.drafted, generation.timings.draft_n);
    assert_eq!(ensemble.accepted, generation.timings.draft_n_accepted);
    assert!(ensemble.accepted > 0);
    assert!(ensemble.mean_bd.is_some_and(|bd| bd > 0.0 && bd < 1.0));
    for round in rounds.iter().filter(|round| round.drafted > 0) {
        assert_eq!(round.drafter.as_deref(), Some("static-ensemble"));
    }
}

#[test]
fn a_drafter_that_fails_leaves_and_the_others_go_on() {
    let plain = generate(&mut session(pool(), "off"), &limited(40));
    for policy in JOINT {
        let mut frail = pool();
        let drafter = ScriptedDrafter::new(counting(1)).failing_after(3);
        frail.add("frail", Box::new(drafter));
        let mut session = session(frail, policy);
        let (generation, rounds, left) = observed(&mut session, 40);
        assert_eq!(generation.tokens, plain.tokens, "{policy}");
        assert_eq!(left, ["frail"], "{policy}");
        assert!(generation.drafters[3].failure.is_some());
        assert!(
            rounds
                .iter()
                .all(|round| round.drafter.as_deref() != Some("frail"))
        );
        let last = &rounds[rounds.len() - 2];
        assert!(last.drafted > 0, "{policy}: nobody drafts any more");
        assert_eq!(generate(&mut session, &limited(40)).tokens, plain.tokens);
    }
}

#[test]
fn when_all_drafters_have_left_the_target_goes_on_alone() {
    let plain = generate(&mut session(pool(), "off"), &limited(20));
    for policy in JOINT {
        let mut pool = Pool::default();
        for name in ["a", "b"] {
            let drafter = ScriptedDrafter::new(counting(1)).failing_after(0);
            pool.add(name, Box::new(drafter));
        }
        let (generation, rounds, left) = observed(&mut session(pool, policy), 20);
        assert_eq!(generation.tokens, plain.tokens, "{policy}");
        assert_eq!(left, ["a", "b"], "{policy}");
        assert!(rounds[1..].iter().all(|round| round.drafter.is_none()));
    }
}

#[test]
fn a_target_that_fails_ends_the_text_with_what_there_is() {
    let failing = target(1000).failing_after(3);
    let generation = generate(&mut open(failing, None, pool(), "draft-all"), &limited(100));
    assert_eq!(generation.stop_reason, StopReason::Error);
    assert_eq!(generation.tokens.len(), 18);
}

#[test]
fn draft_all_needs_a_target_made_for_it() {
    let refused = |target: ScriptedTarget, n_max: usize| {
        let mut session = open(target, None, pool(), "off");
        session.set_n_max(n_max).expect("one draft fits");
        let error = session
            .set_policy(PolicySpec::DraftAll, PolicyParams::default())
            .expect_err("too small");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(session.params().policy, PolicySpec::Off);
        assert_eq!(generate(&mut session, &limited(5)).tokens.len(), 5);
        error.to_string()
    };
    let alone = ScriptedTarget::new(N_VOCAB, 1000, counting(1));
    assert!(refused(alone, 5).contains("made for 0 drafts"));
    let text = refused(target(1000), 7);
    assert!(
        text.contains("22 tokens") && text.contains("and 21 tokens"),
        "{text}"
    );
    let mut session = session(pool(), "draft-all");
    session.set_n_max(7).expect_err("too many");
    session.set_n_max(6).expect("19 tokens");
}

/// Token i points along the i-th axis.
struct Axes;

impl Embedding for Axes {
    fn width(&self) -> usize {
        N_VOCAB
    }

    fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<(), Error> {
        row.fill(0.0);
        row[token.index()] = 1.0;
        Ok(())
    }
}

/// A router that knows `labels`, the first of token 1, the second of token 2 and so on.
fn router(labels: &[&str]) -> Router {
    let identity = TargetIdentity {
        architecture: "script".into(),
        layers: 0,
        width: N_VOCAB,
        vocabulary: N_VOCAB,
        digest: String::new(),
    };
    let prompts: Vec<LabelledPrompt> = labels
        .iter()
        .enumerate()
        .map(|(index, label)| LabelledPrompt {
            label: (*label).to_owned(),
            tokens: vec![TokenId(0), TokenId::from_index(index + 1)],
        })
        .collect();
    let fitting = Fitting::new(identity, &prompts, &mut Axes, &mut || Ok(()));
    fitting.expect("labels that differ").router()
}

/// The drafters that a session with the policy `router` drafts with after `prompt`.
fn drafters_after(session: &mut Session, prompt: &[i32]) -> Vec<String> {
    let prompt: Vec<TokenId> = prompt.iter().copied().map(TokenId).collect();
    let mut drafters = Vec::new();
    session
        .generate(
            &prompt,
            &limited(20),
            &AtomicBool::new(false),
            &mut |event| {
                if let Event::Round(record) = event {
                    drafters.extend(record.drafter.clone());
                }
            },
        )
        .expect("a valid prompt");
    drafters.dedup();
    drafters
}

#[test]
fn the_router_takes_the_drafter_that_the_prompt_calls_for() {
    let mut session = session(pool(), "router");
    let router = router(&["half", "right"]);
    session
        .set_router(router, Box::new(Axes))
        .expect("its labels are drafters");
    assert_eq!(drafters_after(&mut session, &[0, 1, 1, 3]), ["half"]);
    assert_eq!(drafters_after(&mut session, &[2, 0, 0, 0]), ["right"]);
    assert_eq!(drafters_after(&mut session, &[0, 1]), ["half"]);
}

#[test]
fn where_the_routers_choice_has_left_the_next_one_drafts() {
    let mut pool = pool();
    pool.add(
        "frail",
        Box::new(ScriptedDrafter::new(counting(1)).failing_after(0)),
    );
    let mut session = session(pool, "router");
    let router = router(&["frail", "half"]);
    session
        .set_router(router, Box::new(Axes))
        .expect("its labels are drafters");
    assert_eq!(drafters_after(&mut session, &[0, 1]), ["frail", "half"]);
    assert_eq!(drafters_after(&mut session, &[0, 1]), ["half"]);
}

#[test]
fn a_router_that_is_missing_or_names_nobody_is_an_error() {
    let mut session = session(pool(), "router");
    let refused = session
        .generate(
            &[TokenId(0)],
            &limited(5),
            &AtomicBool::new(false),
            &mut |_| {},
        )
        .expect_err("no router");
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.to_string().contains("--router"), "{refused}");
    let error = session
        .set_router(router(&["right", "poetry"]), Box::new(Axes))
        .expect_err("no such drafter");
    assert_eq!(error.kind(), ErrorKind::Config);
    let text = error.to_string();
    assert!(
        text.contains("`poetry`") && text.contains("wrong, right, half"),
        "{text}"
    );
}
