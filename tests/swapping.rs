//! Drafters that come and go within limits, on scripted models: every swap, every fault.

#[path = "support/scripts.rs"]
mod scripts;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use metasd::drafter::DrafterKind;
use metasd::pool::{ByteSize, Place, Pool, ResidencyParams, SwapMode};
use metasd::scripted::{
    LoadFault, ScriptedDrafter, ScriptedFactory, ScriptedTarget, ScriptedVocabulary,
};
use metasd::session::{
    Event, GenerateParams, Generation, RoundRecord, Session, SessionParams, StopReason,
};
use metasd::{ArmId, Error, ErrorKind, TokenId};
use scripts::{N_VOCAB, counting, half_right};

/// What a drafter of the tests takes; the budget holds two.
const SIZE: u64 = 100;
const TOKENS: usize = 120;
/// How long a test waits for what another thread does.
const PATIENCE: Duration = Duration::from_secs(60);

fn limits(swap: SwapMode) -> ResidencyParams {
    ResidencyParams {
        vram_budget: Some(ByteSize(2 * SIZE)),
        swap,
        ..ResidencyParams::default()
    }
}

fn factory() -> ScriptedFactory {
    ScriptedFactory::new(SIZE, || counting(1))
}

/// A pool of `factories`, named `d0`, `d1`, …
fn pool(limits: ResidencyParams, factories: Vec<ScriptedFactory>) -> Pool {
    let mut pool = Pool::within(limits).expect("valid limits");
    for (index, factory) in factories.into_iter().enumerate() {
        let factory = Arc::new(factory);
        pool.add_factory(format!("d{index}"), DrafterKind::Model, factory)
            .expect("it can be planned");
    }
    pool
}

fn filled(limits: ResidencyParams, factories: Vec<ScriptedFactory>) -> Pool {
    let mut pool = pool(limits, factories);
    pool.fill().expect("some fit");
    pool
}

fn session(pool: Pool, policy: &str) -> Session {
    let params = SessionParams {
        policy: policy.parse().expect("a known policy"),
        ..SessionParams::default()
    };
    Session::new(
        Box::new(ScriptedTarget::new(N_VOCAB, 10_000, counting(1))),
        Arc::new(ScriptedVocabulary::letters(N_VOCAB)),
        pool,
        params,
    )
    .expect("valid parameters")
}

/// What a generation told, beside its outcome.
#[derive(Default)]
struct Told {
    rounds: Vec<RoundRecord>,
    left: Vec<(String, String)>,
}

fn generate_with(session: &mut Session, cancel: &AtomicBool, tokens: usize) -> (Generation, Told) {
    let params = GenerateParams {
        max_tokens: Some(tokens),
        ..GenerateParams::default()
    };
    let mut told = Told::default();
    let generation = session
        .generate(&[TokenId(0)], &params, cancel, &mut |event| match event {
            Event::Round(record) => told.rounds.push(record.clone()),
            Event::DrafterLeft { name, error } => {
                told.left.push((name.to_owned(), error.to_string()));
            }
            _ => {}
        })
        .expect("a valid prompt");
    (generation, told)
}

fn generate(session: &mut Session) -> (Generation, Told) {
    generate_with(session, &AtomicBool::new(false), TOKENS)
}

fn plain_tokens() -> Vec<TokenId> {
    (1..=TOKENS)
        .map(|i| TokenId::from_index(i % N_VOCAB))
        .collect()
}

fn places(pool: &Pool) -> Vec<Place> {
    pool.members().iter().map(|member| member.place()).collect()
}

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

/// Checks that the text is what the target alone gives, and that the limits were kept.
fn assert_whole(session: &Session, generation: &Generation) {
    assert_eq!(generation.tokens, plain_tokens());
    assert_eq!(generation.stop_reason, StopReason::Limit);
    let report = session.pool().residency().expect("limits");
    assert!(report.vram_peak <= 2 * SIZE, "{report:?}");
}

#[test]
fn as_many_as_fit_are_loaded_at_the_start_in_their_order() {
    let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| factory()).collect());
    use Place::{Device, Disk};
    assert_eq!(places(&pool), [Device, Device, Disk, Disk]);
    let report = pool.residency().expect("limits");
    assert_eq!((report.vram_used, report.resident), (2 * SIZE, 2));
}

#[test]
fn without_limits_all_are_ready_and_nothing_is_counted_as_swapped() {
    let pool = filled(
        ResidencyParams::default(),
        (0..4).map(|_| factory()).collect(),
    );
    assert!(pool.holds_all() && pool.residency().is_none());
    let mut session = session(pool, "round-robin");
    let (generation, _) = generate(&mut session);
    assert_eq!(generation.timings.swap_ms, 0.0);
    assert!(
        generation
            .drafters
            .iter()
            .all(|d| d.loads == 1 && d.evictions == 0)
    );
}

#[test]
fn a_round_that_waits_drafts_with_the_drafter_that_was_chosen() {
    let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| factory()).collect());
    let mut session = session(pool, "round-robin");
    let (generation, told) = generate(&mut session);
    assert_whole(&session, &generation);
    let order: Vec<_> = told
        .rounds
        .iter()
        .filter_map(|r| r.drafter.clone())
        .collect();
    let expected: Vec<_> = (0..order.len()).map(|i| format!("d{}", i % 4)).collect();
    assert_eq!(order, expected);
    // Two places in turn for four drafters: every choice but the first two is a load.
    let loads: usize = generation.drafters.iter().map(|d| d.loads).sum();
    let evictions: usize = generation.drafters.iter().map(|d| d.evictions).sum();
    assert_eq!((loads, evictions), (order.len(), order.len() - 2));
    for drafter in &generation.drafters {
        assert_eq!(drafter.bytes_moved, SIZE * drafter.loads as u64);
        assert!(drafter.exposed_swap_ms > 0.0, "{drafter:?}");
    }
    assert!(generation.timings.swap_ms > 0.0);
}

#[test]
fn a_round_that_does_not_wait_goes_on_with_one_that_is_ready_and_the_feedback_is_that_ones() {
    let slow = || factory().taking(Duration::from_millis(5));
    let factories = vec![factory(), factory(), slow(), slow()];
    let pool = filled(limits(SwapMode::Async), factories);
    let mut session = session(pool, "round-robin");
    let mut rounds = Vec::new();
    let started = Instant::now();
    let loads =
        |session: &Session| -> usize { session.pool().members().iter().map(|m| m.loads()).sum() };
    while loads(&session) < 8 {
        assert!(started.elapsed() < PATIENCE);
        let (generation, told) = generate(&mut session);
        assert_whole(&session, &generation);
        rounds.extend(told.rounds);
        let counted: usize = generation.drafters.iter().map(|d| d.rounds).sum();
        let drafted = session.policy_state();
        assert_eq!(
            drafted.t as usize, counted,
            "each round counted for who drafted"
        );
        let state: Vec<usize> = drafted.arms.iter().map(|arm| arm.pulls as usize).collect();
        let report: Vec<usize> = generation.drafters.iter().map(|d| d.rounds).collect();
        assert_eq!(state, report);
    }
    assert!(rounds.iter().all(|round| round.swap_us < 5_000_000));
}

#[test]
fn what_was_loaded_for_a_round_drafts_before_it_can_be_evicted_again() {
    for residents in [1, 2] {
        let mut few = limits(SwapMode::Async);
        few.max_resident = Some(residents);
        every_load_drafts(filled(few, (0..5).map(|_| factory()).collect()));
    }
}

fn every_load_drafts(pool: Pool) {
    let mut session = session(pool, "random");
    let started = Instant::now();
    let mut rounds = [0; 5];
    while session
        .pool()
        .members()
        .iter()
        .any(|member| member.loads() < 3)
    {
        assert!(started.elapsed() < PATIENCE, "{rounds:?}");
        let (generation, _) = generate(&mut session);
        for (sum, drafter) in rounds.iter_mut().zip(&generation.drafters) {
            *sum += drafter.rounds;
        }
    }
    for (member, rounds) in session.pool().members().iter().zip(rounds) {
        // The last load may not have drafted yet.
        let loads = member.loads();
        assert!(
            rounds + 1 >= loads,
            "{loads} loads of `{}` for {rounds} rounds",
            member.name()
        );
    }
}

#[test]
fn with_nobody_ready_the_target_decodes_alone_until_the_drafter_comes() {
    let mut one = limits(SwapMode::Async);
    one.max_resident = Some(1);
    let slow = factory().taking(Duration::from_millis(30));
    // The first load takes no time, so that it is the second that is waited for.
    let pool = filled(one, vec![factory(), slow]);
    let mut session = session(pool, "fixed:d1");
    let (_, _) = generate(&mut session);
    session
        .set_policy("fixed:d0".parse().expect("known"), Default::default())
        .expect("there");
    let mut generation = generate(&mut session);
    for _ in 0..200 {
        session
            .set_policy("fixed:d1".parse().expect("known"), Default::default())
            .expect("there");
        generation = generate(&mut session);
        if generation.0.drafters[1].rounds > 0 && generation.1.rounds[0].drafter.is_none() {
            break;
        }
        session
            .set_policy("fixed:d0".parse().expect("known"), Default::default())
            .expect("there");
        std::thread::sleep(Duration::from_millis(5));
        generate(&mut session);
    }
    assert_eq!(generation.0.tokens, plain_tokens());
    let alone = session.pool().residency().expect("limits");
    assert_eq!(alone.max_resident, Some(1));
    assert!(alone.resident <= 1);
}

#[test]
fn the_least_recently_used_goes_and_pins_stay() {
    let mut limits = limits(SwapMode::Sync);
    limits.vram_budget = Some(ByteSize(3 * SIZE));
    limits.pins = vec!["d3".to_owned()];
    let mut pool = filled(limits, (0..5).map(|_| factory()).collect());
    use Place::{Device, Disk};
    assert_eq!(places(&pool), [Device, Device, Disk, Device, Disk]);
    assert!(pool.members()[3].is_pinned());
    pool.touch(ArmId(1));
    pool.touch(ArmId(0));
    pool.bring(ArmId(4), &never()).expect("room is made");
    assert_eq!(places(&pool), [Device, Disk, Disk, Device, Device]);
    pool.touch(ArmId(4));
    pool.bring(ArmId(2), &never()).expect("room is made");
    assert_eq!(places(&pool), [Disk, Disk, Device, Device, Device]);
    assert_eq!(pool.members()[3].statistics().evictions, 0);
}

#[test]
fn a_drafter_that_can_never_fit_is_out_with_what_it_needs_and_what_there_is() {
    let giant = ScriptedFactory::new(3 << 20, || counting(1));
    let mut budget = limits(SwapMode::Sync);
    budget.vram_budget = Some(ByteSize(1 << 20));
    let pool = filled(budget, vec![factory(), giant]);
    assert_eq!(pool.members()[0].failure(), None);
    let failure = pool.members()[1].failure().expect("it is out");
    assert!(
        failure.contains("it needs 3.0 MiB (weights 3.0 MiB"),
        "{failure}"
    );
    assert!(failure.contains("vram-budget is 1.0 MiB"), "{failure}");
    assert_eq!(pool.members()[1].place(), Place::Out);
}

#[test]
fn a_budget_below_the_smallest_drafter_is_an_error_that_names_it() {
    let small = ScriptedFactory::new(2 << 20, || counting(1));
    let large = ScriptedFactory::new(3 << 20, || counting(1));
    let mut budget = limits(SwapMode::Sync);
    budget.vram_budget = Some(ByteSize(1 << 20));
    let error = pool(budget, vec![large, small])
        .fill()
        .expect_err("too small");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let message = error.to_string();
    assert!(message.contains("the smallest is `d1`"), "{message}");
    assert!(
        message.contains("2.0 MiB") && message.contains("1.0 MiB"),
        "{message}"
    );
}

#[test]
fn pins_that_do_not_fit_together_and_pins_of_nobody_are_errors() {
    let mut pinned = limits(SwapMode::Sync);
    pinned.pins = ["d0", "d1", "d2"].map(str::to_owned).to_vec();
    let three = || (0..3).map(|_| factory()).collect();
    let error = pool(pinned.clone(), three()).fill().expect_err("too many");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("pinned drafter `d2`"), "{error}");
    pinned.pins = vec!["nobody".to_owned()];
    let error = pool(pinned, three()).fill().expect_err("unknown");
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("no drafter `nobody`"), "{error}");
}

#[test]
fn where_the_pins_take_all_the_others_are_out() {
    let mut pinned = limits(SwapMode::Sync);
    pinned.pins = ["d0", "d1"].map(str::to_owned).to_vec();
    let pool = filled(pinned, (0..3).map(|_| factory()).collect());
    let failure = pool.members()[2].failure().expect("no room");
    assert!(
        failure.contains("of which pinned drafters take 200 B"),
        "{failure}"
    );
}

#[test]
fn a_zero_budget_is_refused_before_anything_is_loaded() {
    let zero = ResidencyParams {
        vram_budget: Some(ByteSize(0)),
        ..ResidencyParams::default()
    };
    let error = Pool::within(zero).expect_err("nothing fits");
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("vram_budget is 0"), "{error}");
}

/// A session in which `d2`, chosen throughout, is loaded by `faulty`.
fn faulty_session(swap: SwapMode, faulty: ScriptedFactory) -> Session {
    let pool = filled(limits(swap), vec![factory(), factory(), faulty]);
    session(pool, "round-robin")
}

/// Generates until the loader has reported about every load, and returns who left meanwhile.
fn until_somebody_left(session: &mut Session) -> Vec<(String, String)> {
    let started = Instant::now();
    let mut left = Vec::new();
    while left.is_empty() && started.elapsed() < PATIENCE {
        let (generation, told) = generate(session);
        assert_whole(session, &generation);
        left = told.left;
    }
    left
}

#[test]
fn no_memory_for_a_load_makes_the_pool_smaller_and_the_text_goes_on() {
    for swap in [SwapMode::Sync, SwapMode::Async] {
        let faulty = factory().failing_after(0, LoadFault::OutOfMemory);
        let mut session = faulty_session(swap, faulty);
        let left = until_somebody_left(&mut session);
        assert_eq!(left.len(), 1, "{swap}: {left:?}");
        assert_eq!(left[0].0, "d2");
        assert!(left[0].1.contains("no memory left"), "{left:?}");
        assert_eq!(session.pool().members()[2].place(), Place::Out);
    }
}

#[test]
fn a_panic_of_the_loader_costs_one_drafter_and_the_next_load_works() {
    for swap in [SwapMode::Sync, SwapMode::Async] {
        let faulty = factory().failing_after(0, LoadFault::Panic);
        let pool = filled(limits(swap), vec![factory(), factory(), faulty, factory()]);
        let mut session = session(pool, "round-robin");
        let left = until_somebody_left(&mut session);
        assert_eq!(left.len(), 1, "{swap}: {left:?}");
        assert!(
            left[0].1.contains("panicked: the script says so"),
            "{left:?}"
        );
        let started = Instant::now();
        while session.pool().members()[3].loads() == 0 {
            assert!(started.elapsed() < PATIENCE, "{swap}");
            generate(&mut session);
        }
    }
}

#[test]
fn a_load_that_takes_too_long_is_given_up_and_the_next_one_has_a_thread_of_its_own() {
    for swap in [SwapMode::Sync, SwapMode::Async] {
        let mut hasty = limits(swap);
        hasty.load_timeout = Duration::from_millis(50);
        let mut slow = factory().taking(Duration::from_secs(3600));
        if swap == SwapMode::Async {
            // Even one that does not notice.
            slow = factory().taking(Duration::from_secs(1)).stubborn();
        }
        let mut pool = filled(hasty, vec![slow, factory(), factory()]);
        // Its first load takes no time; it is the next that does.
        pool.touch(ArmId(1));
        pool.bring(ArmId(2), &never()).expect("room is made");
        assert_eq!(pool.members()[0].place(), Place::Disk);
        pool.touch(ArmId(2));
        let mut session = session(pool, "round-robin");
        let left = until_somebody_left(&mut session);
        assert_eq!(left.len(), 1, "{swap}: {left:?}");
        assert_eq!(left[0].0, "d0");
        assert!(left[0].1.contains("took longer than 0.05 s"), "{left:?}");
        let (generation, _) = generate(&mut session);
        assert_whole(&session, &generation);
    }
}

#[test]
fn a_session_dropped_during_a_load_does_not_wait_for_it() {
    let slow = factory().taking(Duration::from_secs(3600));
    let mut pool = filled(limits(SwapMode::Async), vec![slow, factory(), factory()]);
    pool.touch(ArmId(1));
    pool.bring(ArmId(2), &never()).expect("room is made");
    let mut session = session(pool, "fixed:d0");
    generate(&mut session);
    assert_eq!(session.pool().members()[0].place(), Place::Loading);
    let started = Instant::now();
    drop(session);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn asking_to_stop_ends_a_round_that_waits() {
    let slow = factory().taking(Duration::from_secs(3600));
    let mut pool = filled(limits(SwapMode::Sync), vec![slow, factory(), factory()]);
    pool.touch(ArmId(1));
    pool.bring(ArmId(2), &never()).expect("room is made");
    let mut session = session(pool, "fixed:d0");
    let cancel = Arc::new(AtomicBool::new(false));
    let asked = cancel.clone();
    let asking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        asked.store(true, Ordering::Relaxed);
    });
    let (generation, _) = generate_with(&mut session, &cancel, TOKENS);
    asking.join().expect("it only waits");
    assert_eq!(generation.stop_reason, StopReason::Cancelled);
    assert!(generation.error.is_none());
}

#[test]
fn one_that_turns_out_larger_than_planned_pushes_others_out_or_leaves() {
    let larger = factory().turning_out(2 * SIZE);
    let mut pool = filled(limits(SwapMode::Sync), vec![factory(), factory(), larger]);
    pool.bring(ArmId(2), &never()).expect("it fits alone");
    assert_eq!(places(&pool), [Place::Disk, Place::Disk, Place::Device]);
    assert_eq!(pool.residency().expect("limits").vram_used, 2 * SIZE);

    let giant = factory().turning_out(5 * SIZE);
    let mut pool = self::pool(limits(SwapMode::Sync), vec![factory(), factory(), giant]);
    pool.fill().expect("two fit");
    let error = pool.bring(ArmId(2), &never()).expect_err("it cannot fit");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("it needs 500 B"), "{error}");
    let report = pool.residency().expect("limits");
    assert!(report.vram_used <= 2 * SIZE, "{report:?}");
}

#[test]
fn ngrams_take_nothing_and_are_never_in_the_way() {
    let mut pool = filled(limits(SwapMode::Async), (0..3).map(|_| factory()).collect());
    pool.add("ngram", Box::new(ScriptedDrafter::one_hot(half_right())));
    let mut session = session(pool, "round-robin");
    let (generation, _) = generate(&mut session);
    assert_whole(&session, &generation);
    assert!(generation.drafters[3].rounds > 0);
    assert_eq!(generation.drafters[3].evictions, 0);
}

#[test]
fn only_ready_drafters_are_scored_on_a_text() {
    let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| factory()).collect());
    let mut session = session(pool, "hedge");
    let (generation, told) = generate(&mut session);
    assert_whole(&session, &generation);
    assert!(
        told.rounds
            .iter()
            .all(|round| round.counterfactual.len() <= 2)
    );
}

#[test]
fn policies_that_need_all_drafters_at_once_are_refused_with_how_many_there_are() {
    for policy in ["draft-all", "static-ensemble"] {
        let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| factory()).collect());
        let params = SessionParams {
            policy: policy.parse().expect("a known policy"),
            ..SessionParams::default()
        };
        let error: Error = Session::new(
            Box::new(ScriptedTarget::new(N_VOCAB, 1000, counting(1)).with_trees(8, 64)),
            Arc::new(ScriptedVocabulary::letters(N_VOCAB)),
            pool,
            params,
        )
        .expect_err("two of four");
        assert!(
            error.to_string().contains("the limits hold 2 of 4"),
            "{error}"
        );
    }
}

#[test]
fn a_dwell_holds_the_policy_to_a_drafter_and_makes_fewer_loads() {
    let loads = |dwell: usize| {
        let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| factory()).collect());
        let mut session = session(pool, "round-robin");
        let params = metasd::bandit::PolicyParams {
            dwell,
            ..Default::default()
        };
        session
            .set_policy("round-robin".parse().expect("known"), params)
            .expect("valid");
        let (generation, _) = generate(&mut session);
        assert_whole(&session, &generation);
        generation.drafters.iter().map(|d| d.loads).sum::<usize>()
    };
    let (free, held) = (loads(1), loads(4));
    assert!(held * 3 < free, "{held} loads, without a dwell {free}");
}

#[test]
fn a_change_that_was_measured_to_cost_much_is_stayed_with_until_it_is_a_small_part_of_the_time() {
    let loads = |switch_cost: Option<f64>| {
        let slow = || factory().taking(Duration::from_millis(5));
        let pool = filled(limits(SwapMode::Sync), (0..4).map(|_| slow()).collect());
        let mut session = session(pool, "round-robin");
        let params = metasd::bandit::PolicyParams {
            switch_cost,
            ..Default::default()
        };
        session
            .set_policy("round-robin".parse().expect("known"), params)
            .expect("valid");
        let (first, _) = generate(&mut session);
        let (second, _) = generate(&mut session);
        let sum = |generation: &Generation| -> usize {
            generation.drafters.iter().map(|d| d.loads).sum()
        };
        sum(&second) - sum(&first)
    };
    let (free, held) = (loads(None), loads(Some(0.01)));
    assert!(
        held * 2 < free,
        "{held} loads, where changes are free {free}"
    );
}

#[test]
fn with_a_device_of_its_own_evicted_weights_stay_in_host_memory_as_far_as_that_goes() {
    let mut apart = limits(SwapMode::Sync);
    apart.separate_device = true;
    apart.ram_budget = Some(ByteSize(SIZE));
    let mut pool = filled(apart, (0..4).map(|_| factory()).collect());
    for arm in [2, 3, 2] {
        pool.touch(ArmId(arm));
        pool.bring(ArmId(arm), &never()).expect("room is made");
        pool.touch(ArmId(arm));
        // A look, so that what the loader kept of the evicted is known.
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(50) {
            pool.wait(Duration::from_millis(5));
        }
        let report = pool.residency().expect("limits");
        assert!(report.ram_peak <= SIZE, "{report:?}");
        let on_host = pool.members().iter().filter(|m| m.place() == Place::Host);
        assert_eq!(on_host.count(), 1, "{:?}", places(&pool));
    }
}
