//! `metasd chat`.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use metasd::session::{Event, GenerateParams, Generation, StopReason};
use metasd::{Error, ErrorKind, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::args::ChatArgs;
use super::conversation::{Conversation, Turn};
use super::engine::Engine;
use super::interrupt::{self, Busy};
use super::output::Output;
use super::progress::Progress;
use super::prompt::system_message;
use super::report::{Asked, Summary};
use super::run::warn_of_drafter;
use super::{Environment, sampling, say};

const HELP: &str = "\
/help    this list
/stats   counts and times of the last answer
/regen   answer the last message again, with the next seed
/clear   forget the conversation
/exit    leave, as does Ctrl-D; Ctrl-C stops an answer
A message that begins with a slash is sent with a space before it.";

/// Talks until the user leaves.
///
/// # Errors
/// What is wrong before the first message; standard input that cannot be read.
pub fn run(args: &ChatArgs, environment: &Environment) -> Result<ExitCode> {
    let params = GenerateParams {
        max_tokens: sampling::max_tokens(&args.sampling)?,
        sampling: sampling::params(&args.sampling)?,
        ..GenerateParams::default()
    };
    let busy = Busy::new();
    let progress = Progress::new(false);
    let engine = Engine::open(&args.models, &args.speculation, environment, &progress)?;
    if !engine.model.has_chat_template() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "{} has no chat template; use `metasd run` with it",
                engine.model.path().display()
            ),
        ));
    }
    drop(busy);
    let mut chat = Chat::new(engine, params, args.system_prompt.as_deref());
    let mut lines = Lines::new()?;
    if lines.is_terminal() {
        say("/help lists the commands, Ctrl-D leaves");
    }
    while let Some(line) = lines.next()? {
        match line.trim_end() {
            "" => {}
            "/exit" | "/quit" => break,
            "/help" => say(HELP),
            "/stats" => chat.stats(),
            "/clear" => chat.clear()?,
            "/regen" => chat.answer_again(),
            command if command.starts_with('/') => say(format_args!(
                "unknown command {command}; /help lists the commands, a space before it sends it \
                 as a message"
            )),
            _ => chat.say(&line),
        }
        if chat.output.has_failed() {
            break;
        }
    }
    Ok(chat.output.finish(ExitCode::SUCCESS))
}

struct Chat {
    engine: Engine,
    params: GenerateParams,
    begin: Vec<metasd::llama::ChatMessage>,
    conversation: Conversation,
    /// The last message that was answered.
    last_turn: Option<Turn>,
    last: Option<(Generation, Asked)>,
    output: Output,
}

impl Chat {
    fn new(engine: Engine, mut params: GenerateParams, system_prompt: Option<&str>) -> Self {
        sampling::fit(&mut params.sampling, engine.n_ctx);
        let begin = system_message(system_prompt, engine.system_prompt.as_deref());
        Self {
            conversation: Conversation::new(begin.clone()),
            begin,
            engine,
            params,
            last_turn: None,
            last: None,
            output: Output::default(),
        }
    }

    fn say(&mut self, text: &str) {
        match self.conversation.ask(&*self.engine.model, text.trim()) {
            Ok(turn) => self.answer(turn),
            Err(error) => say(format_args!("error: {error}")),
        }
    }

    fn answer_again(&mut self) {
        match self.last_turn.clone() {
            Some(turn) => self.answer(turn),
            None => say("there is no answer yet"),
        }
    }

    /// Answers `turn`. A failure leaves the conversation as it was.
    fn answer(&mut self, turn: Turn) {
        let _busy = Busy::new();
        let mut progress = Progress::new(false);
        let output = &mut self.output;
        let generated = self.engine.session.generate(
            turn.tokens(),
            &self.params,
            interrupt::flag(),
            &mut |event| match event {
                Event::Prompt { done, total } => progress.prompt(done, total),
                Event::Text { text, drafter } => output.text(text, drafter),
                Event::Round(_) => {}
                Event::DrafterLeft { name, error } => warn_of_drafter(name, error),
            },
        );
        self.output.end_line();
        let seed = self.params.sampling.seed;
        self.params.sampling.seed = seed.wrapping_add(1);
        let generation = match generated {
            Ok(generation) => generation,
            Err(error) if error.kind() == ErrorKind::ContextOverflow => {
                return self.say_full();
            }
            Err(error) => return say(format_args!("error: {error}")),
        };
        match (&generation.error, generation.stop_reason) {
            (Some(error), _) => say(format_args!("error: the answer ended here: {error}")),
            (None, StopReason::Context) => self.say_full(),
            (None, StopReason::Cancelled) => say("(stopped)"),
            _ => {}
        }
        let tokens = self.engine.session.history();
        self.conversation
            .answered(turn.clone(), &generation.text, tokens);
        self.last_turn = Some(turn);
        self.last = Some((generation, Asked::of(&self.engine, seed)));
    }

    fn say_full(&self) {
        say(format_args!(
            "the context of {} tokens is full; /clear begins a new conversation",
            self.engine.n_ctx
        ));
    }

    fn stats(&self) {
        match &self.last {
            Some((generation, asked)) => say(Summary(generation, asked)),
            None => say("there is no answer yet"),
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.engine.session.clear()?;
        self.conversation = Conversation::new(self.begin.clone());
        self.last_turn = None;
        self.last = None;
        say("(a new conversation)");
        Ok(())
    }
}

/// What the user types: edited in a terminal, read as it comes from anything else.
enum Lines {
    Terminal(Box<DefaultEditor>),
    Plain { number: usize },
}

impl Lines {
    fn new() -> Result<Self> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Plain { number: 0 });
        }
        DefaultEditor::new()
            .map(|editor| Self::Terminal(Box::new(editor)))
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot use the terminal: {error}")))
    }

    fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next line without its end; `None` when the user leaves.
    fn next(&mut self) -> Result<Option<String>> {
        let unreadable =
            |why: String| Error::new(ErrorKind::Io, format!("cannot read standard input: {why}"));
        match self {
            Self::Terminal(editor) => match editor.readline("> ") {
                Ok(line) => {
                    // History is a comfort; without it the chat goes on.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(unreadable(error.to_string())),
            },
            Self::Plain { number } => {
                *number += 1;
                let mut line = Vec::new();
                let read = std::io::stdin().lock().read_until(b'\n', &mut line);
                if read.map_err(|error| unreadable(error.to_string()))? == 0 {
                    return Ok(None);
                }
                let line = String::from_utf8(line).map_err(|error| {
                    let offset = error.utf8_error().valid_up_to();
                    unreadable(format!("line {number} is not UTF-8 at byte {offset}"))
                })?;
                Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
            }
        }
    }
}
