"""The replay bench outside of itself: texts read back from a real window, and its page in a real browser."""

import json
import shutil

import pytest

from tests.e2e.desktop import VirtualDesktop
from tests.e2e.programs import Chromium
from tests.shell import ROOT, SPEECH, sayso

pytestmark = pytest.mark.desktop
SMALL = ROOT / "tests" / "data" / "replay"


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Three clips with their texts beside them."""
    folder = tmp_path_factory.mktemp("clips")
    for name, text in (("gcp-today", "today"), ("gcp-two-people", "two people"), ("wyoming-lamp", "turn it on")):
        shutil.copyfile(SPEECH / "en" / f"{name}.flac", folder / f"{name}.flac")
        (folder / f"{name}.en.txt").write_text(text)
    return folder


def test_each_text_is_typed_into_a_window_and_read_back(desktop: VirtualDesktop, tiny_en_q8, clips, tmp_path):
    for program in list(desktop.programs):
        program.close()
    options = ("--models", tiny_en_q8, "--type", "--report", tmp_path)
    done = sayso("replay", clips, *options, env=desktop.environment)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, (tmp_path / f"{tiny_en_q8.stem}.fast.typed.jsonl").read_text().splitlines())
    results = [line for line in lines if "clip" in line]
    assert len(results) == 3
    for result in results:
        assert result["outcome"] == "delivered" and result["deliver_ms"] > 0 and result["evidence"]
        assert result["window_text"] == result["text"] != ""
    assert not desktop.windows()


class ReportPage(Chromium):
    """Chromium with a report from its file."""

    kind = "report"
    field = "words"
    path = None

    def command(self):
        command = super().command()
        self.address = self.path.as_uri()
        return [
            *command[:-1],
            "--autoplay-policy=no-user-gesture-required",
            "--host-rules=MAP * ~NOTFOUND",
            self.address,
        ]

    def focus(self):
        """Nothing is typed."""


@pytest.fixture
def page(desktop: VirtualDesktop, tiny_en_q8, clips, tmp_path):
    options = ("--models", tiny_en_q8, "--report", tmp_path, "--offline", "--fast")
    assert sayso("replay", clips, *options).returncode in (0, 1)
    ReportPage.path = tmp_path / "report.html"
    # counts what goes wrong from the first line of script on, and says when the page is ready for the harness
    text = ReportPage.path.read_text("utf-8")
    probe = "<script>window.seen = []; addEventListener('error', e => seen.push(e.message), true)</script>"
    ReportPage.path.write_text(text.replace("<style>", probe + "<style>", 1), "utf-8")
    program = desktop.open(ReportPage)
    yield program.page.evaluate
    program.close()


def test_the_page_works_from_a_file_without_a_network(page):
    assert page("seen") == []
    assert page("document.getElementById('count').textContent") == "3 of 3 clips"
    assert page("document.querySelectorAll('svg.timeline rect.firm').length") > 3
    page("var words = document.querySelector('form').elements.words; words.value = 'people'")
    page("words.dispatchEvent(new Event('input', {bubbles: true}))")
    assert page("document.getElementById('count').textContent") == "1 of 3 clips"
    assert page("[...document.querySelectorAll('article')].filter(a => !a.hidden).length") == 1
    played = """(async () => {
      const article = [...document.querySelectorAll('article')].find((a) => !a.hidden);
      const audio = article.querySelector('audio');
      audio.muted = true;
      await audio.play();
      await new Promise((done) => audio.addEventListener('ended', done));
      return [audio.duration, audio.error, article.querySelector('.caption').textContent];
    })()"""
    duration, error, caption = page(played)
    assert 0.7 < duration < 1.2 and error is None and "people" in caption.lower()
    heads = "document.querySelectorAll('table.overview th button')"
    assert page(f"{heads}.length") == 21
    page(f"{heads}[10].click()")
    assert page(f"{heads}[10].parentElement.getAttribute('aria-sort')") == "ascending"
    assert page("seen") == []
    assert page("performance.getEntriesByType('resource').length") == 0
