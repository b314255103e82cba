//! The command line: arguments and pool file in, text on standard output, everything else on
//! standard error.

mod args;
mod argv;
mod audit;
mod bench;
mod chat;
mod conversation;
mod devices;
mod digest;
mod engine;
mod interrupt;
mod matrix;
mod options;
mod output;
mod paint;
mod plot;
mod pool;
mod progress;
mod prompt;
mod quantize;
mod record;
mod replay;
mod report;
mod router;
mod run;
mod sampling;
mod selection;
mod simulate;
mod suite;
mod table;
mod trace;

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use metasd::{Error, ErrorKind};

use args::{Cli, Command, PoolCommand, RouterCommand};

/// What a shell reports of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// What the command line takes from the environment, besides what the libraries for logging and
/// terminals look at themselves.
#[derive(Debug, Default)]
struct Environment {
    /// `METASD_POOL`: the default pool.
    pool: Option<PathBuf>,
    /// Where the program lies, links resolved.
    program: Option<PathBuf>,
}

impl Environment {
    fn read() -> Self {
        Self {
            pool: std::env::var_os("METASD_POOL")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            program: std::env::current_exe()
                .and_then(|path| path.canonicalize())
                .ok(),
        }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let environment = Environment::read();
    let arguments = argv::normalised(std::env::args_os(), &Cli::command());
    let cli = Cli::try_parse_from(arguments).unwrap_or_else(|error| error.exit());
    start_logging(cli.verbose);
    interrupt::install();
    let outcome = match cli.command {
        Command::Run(arguments) => run::run(&arguments, &environment),
        Command::Chat(arguments) => chat::run(&arguments, &environment),
        Command::Pool(PoolCommand::Check(arguments)) => pool::check(&arguments, &environment),
        Command::Pool(PoolCommand::Status(arguments)) => pool::status(&arguments, &environment),
        Command::Devices => devices::run(),
        Command::Pool(PoolCommand::Matrix(arguments)) => matrix::run(&arguments, &environment),
        Command::Record(arguments) => record::run(&arguments, &environment),
        Command::Router(RouterCommand::Fit(arguments)) => router::fit(&arguments, &environment),
        Command::Router(RouterCommand::Eval(arguments)) => router::eval(&arguments, &environment),
        Command::Quantize(arguments) => quantize::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments, &environment),
        Command::Bench(arguments) => bench::run(&arguments, &environment),
        Command::Simulate(arguments) => simulate::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        say(format_args!("error: {error}"));
        exit_code(&error)
    })
}

fn exit_code(error: &Error) -> ExitCode {
    match error.kind() {
        ErrorKind::Cancelled => ExitCode::from(INTERRUPTED),
        _ => ExitCode::from(error.exit_code()),
    }
}

/// llama.cpp's log stays off by default: what matters of it is in the errors.
fn start_logging(verbose: u8) {
    let default = match verbose {
        0 => "warn,llama.cpp=off",
        1 => "info,llama.cpp=warn",
        2 => "debug",
        _ => "trace",
    };
    let environment = env_logger::Env::default().default_filter_or(default);
    env_logger::Builder::from_env(environment).init();
}

/// Writes a line to standard error; nobody may be reading it.
fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes a warning to standard error.
fn warn(line: impl Display) {
    say(format_args!("warning: {line}"));
}
