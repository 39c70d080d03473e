"""A sweep's picture with buttons for its steps, in plain HTML: keyboard, screen readers, print and no script.

Without a script the last step is seen and all steps stand in a table; so too when it is printed.
No element has an id, so several players may stand on a page.
"""

from collections.abc import Sequence
from typing import NamedTuple

from labkit.messages import Message

from .page import escape, fragment, scrolled

_BUTTONS = (("first", "|◀"), ("back", "◀"), ("play", "▶▶"), ("next", "▶"), ("last", "▶|"))
_STYLE = """
.labkit-draw .edge.on path{stroke-width:3.5;stroke:var(--graph-mark)!important}
.labkit-draw .edge.on path+path{fill:var(--graph-mark)!important;stroke-width:0}
.labkit-draw g.on>rect{stroke:var(--graph-mark)!important;stroke-width:3.5;
fill:var(--graph-mark-paper)!important}
.labkit-draw .moving{font-weight:600}
.labkit-draw .panel{position:sticky;bottom:0;background:var(--graph-page)}
.labkit-draw .controls{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center;margin:.5rem 0}
.labkit-draw .controls[hidden]{display:none}
.labkit-draw button{font:inherit;padding:.2rem .7rem;border:1px solid var(--graph-ink);border-radius:5px;
background:var(--graph-paper);color:var(--graph-text);cursor:pointer}
.labkit-draw button[aria-disabled=true]{opacity:.5;cursor:default}
.labkit-draw button:focus-visible,.labkit-draw .scroll:focus-visible{outline:3px solid var(--graph-mark);
outline-offset:2px}
.labkit-draw .now{min-height:4.5em;margin:.2rem 0;font-family:ui-monospace,Menlo,Consolas,monospace;
overflow-wrap:anywhere}
.labkit-draw table{border-collapse:collapse;font-size:.9em}
.labkit-draw th,.labkit-draw td{text-align:start;padding:.15rem .8rem .15rem 0;vertical-align:top;
background:none;border:0;border-bottom:1px solid var(--graph-ink);color:inherit}
.labkit-draw td:last-child{overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,monospace}
@media print{.labkit-draw .panel{display:none}}
"""
_SCRIPT = """
document.querySelectorAll('[data-sweep]:not([data-ready])').forEach(root => {
  root.dataset.ready = '';
  const all = selector => [...root.querySelectorAll(selector)];
  const rows = all('tbody tr'), end = rows.length - 1, details = root.querySelector('details');
  const panel = root.querySelector('.panel'), controls = root.querySelector('.controls');
  const now = root.querySelector('.now');
  const counter = root.querySelector('.counter'), play = root.querySelector('[data-go=play]');
  let step = 0, timer = null, before = null;
  const draw = () => {
    all('[data-from]').forEach(one => {
      const seen = step >= +one.dataset.from && !(step >= +one.dataset.to);
      one.setAttribute('visibility', seen ? 'visible' : 'hidden');
    });
    all('[data-on]').forEach(one =>
      one.classList.toggle('on', one.dataset.on.split(' ').includes(String(step))));
  };
  const tell = () => {
    draw();
    now.replaceChildren(...[...rows[step].cells[2].childNodes].map(one => one.cloneNode(true)));
    counter.textContent = rows[step].dataset.count;
    // not disabled: the focus would be lost with the last step
    all('[data-go=first],[data-go=back]').forEach(one => one.setAttribute('aria-disabled', step === 0));
    all('[data-go=next],[data-go=last]').forEach(one => one.setAttribute('aria-disabled', step === end));
  };
  const lit = () => root.querySelector('g.on:not(.edge)');
  const follow = () => {  // a node outside the window is brought into it, unless the player is outside too
    const node = lit(), buttons = panel.getBoundingClientRect();
    if (!node || buttons.bottom < 0 || buttons.top > innerHeight) return;
    const box = node.getBoundingClientRect(), seen = box.top >= 0 && box.bottom <= buttons.top;
    node.scrollIntoView({block: seen ? 'nearest' : 'center', inline: 'nearest'});
  };
  const show = to => {
    step = Math.max(0, Math.min(end, to));
    tell();
    follow();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = play.dataset.play;
  };
  const start = () => {
    if (step === end) show(0);
    play.textContent = play.dataset.stop;
    timer = setInterval(() => {
      if (step === end || !root.isConnected) stop(); else show(step + 1);
    }, 1600);
  };
  const go = {
    first: () => show(0), back: () => show(step - 1), next: () => show(step + 1), last: () => show(end),
  };
  controls.addEventListener('click', event => {
    const wish = event.target.closest('button')?.dataset.go;
    if (!wish) return;
    const playing = timer !== null;
    stop();
    if (wish !== 'play') go[wish](); else if (!playing) start();
  });
  controls.addEventListener('keydown', event => {
    const wish = {ArrowLeft: 'back', ArrowRight: 'next', Home: 'first', End: 'last'}[event.key];
    if (!wish) return;
    event.preventDefault();
    event.stopPropagation();
    stop();
    go[wish]();
  });
  addEventListener('beforeprint', () => {
    before = [step, details.open];
    step = end;
    draw();
    details.open = true;
  });
  addEventListener('afterprint', () => {
    if (before) [step, details.open] = before;
    draw();
  });
  if (end < 0) return;
  controls.hidden = false;
  details.open = false;
  tell();
  if (lit()) {  // sideways only: a page that opens stays where it is
    const [node, pane] = [lit(), root.querySelector('.scroll')].map(one => one.getBoundingClientRect());
    root.querySelector('.scroll').scrollLeft += node.x + node.width / 2 - pane.x - pane.width / 2;
  }
});
"""


class Row(NamedTuple):
    """A step in words."""

    name: str
    lines: Sequence[str]


def html(svg: str, rows: Sequence[Row], title: str, notes: list[str], language: str) -> str:
    """The player as a piece of a page; `svg` may be "" where there is no picture."""

    def say(id: str, **arguments: int) -> str:
        return escape(Message(f"draw.{id}", arguments).text(language))

    buttons = []
    for go, sign in _BUTTONS:
        label = f"{sign} {say(go)}"
        playing = f' data-play="{label}" data-stop="■ {say("stop")}"' if go == "play" else ""
        buttons.append(f'<button type="button" data-go="{go}"{playing}>{label}</button>')
    lines = []
    for count, row in enumerate(rows, 1):
        told = say("step", number=count, total=len(rows))
        text = "<br>".join(map(escape, row.lines))
        lines.append(
            f'<tr data-count="{told}"><td>{count}</td><td>{escape(row.name)}</td><td>{text}</td></tr>'
        )
    heads = "".join(f'<th scope="col">{say(f"column-{one}")}</th>' for one in ("step", "node", "what"))
    body = (
        f"<div data-sweep>{scrolled(svg, title) if svg else ''}"
        f'<div class="panel"><div class="controls" role="group" aria-label="{escape(title)}" hidden>'
        f'{"".join(buttons)}<span class="counter"></span></div><p class="now" aria-live="polite"></p></div>'
        f'<details open><summary>{say("all-steps")}</summary><div class="scroll"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div></details></div>"
    )
    return fragment(title, body, notes, _STYLE, _SCRIPT)
