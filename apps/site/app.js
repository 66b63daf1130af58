// The page: controls, the clock, and the display of each step.
import { bits } from './bits.js';
import { digits } from './digits.js';
import { follow } from './follow.js';
import { inside } from './inside.js';
import { readColours } from './plot.js';
import { HEALTH, load } from './rejfilt.js';

const $ = id => document.getElementById(id);
const DRIFT = Math.PI / 120; // of one step, as in the paper
const SHOWN = 1500;          // attempts drawn in the picture
const DEAD = 60;             // measurements while the detector fails
const UNREST = 4;            // factor on the filter's drift
const BUSY = 12;             // milliseconds per frame for updates
const HEALTH_TEXT = ['tracking', 'suspicious', 'recovering: widened', 'lost: begins again at home',
  'fault: the detector does not vary, so nothing is learnt', 'tracking, as sharp as floats can tell'];
const stillness = matchMedia('(prefers-reduced-motion: reduce)');

const module = await load('rejfilt.wasm');
const panels = { follow: follow($('follow')), inside: inside($('inside')), bits: bits($('bits')) };
let running = !stillness.matches, due = 0, last = 0, kicks = 0, kicked = false, restless = false, rate = { since: 0, count: 0 }, view;

// ---- Controls ----

const attempts = () => Math.round(10 ** Number($('attempts').value));
const round = m => { const unit = 10 ** Math.max(0, Math.floor(Math.log10(m)) - 1); return Math.round(m / unit) * unit; };
const settings = () => ({
  attempts: round(attempts()),
  design: Number($('design').value),
  kappa: $('adapt').checked ? 0 : Number($('kappa').value),
  drift: Math.fround(Number($('drift').value) * DRIFT),
});
const speed = () => [1, 4, 15, 30, 60, Infinity][Number($('speed').value)];

function applySettings() {
  const s = settings();
  module.set(s);
  $('attempts-out').textContent = s.attempts.toLocaleString('en');
  $('drift-out').textContent = `${s.drift.toFixed(3)} rad`;
  $('kappa-out').textContent = $('adapt').checked ? 'adapts' : s.kappa.toFixed(2);
  $('kappa').disabled = $('adapt').checked;
  $('speed-out').textContent = speed() === Infinity ? 'as fast as it goes' : `${speed()} a second`;
  for (const [id, value] of [['attempts', $('attempts-out').textContent], ['speed', $('speed-out').textContent]])
    $(id).setAttribute('aria-valuetext', value);
}

function restart() {
  const seed = Number($('seed').value);
  $('seed').setCustomValidity(Number.isInteger(seed) && seed >= 0 && seed <= 4294967295 ? '' : 'a whole number from 0 to 4294967295');
  if (!$('seed').reportValidity()) return;
  module.open(seed);
  applySettings();
  kicks = due = 0;
  kicked = false;
  setUnrest(false);
  panels.follow.forget();
  panels.bits.forget();
  panels.bits.remember(module.filter());
  update();
  show();
}

function pause(stop) {
  running = !stop;
  $('pause').textContent = running ? 'Pause' : 'Play';
  $('pause').setAttribute('aria-pressed', String(!running));
}

function kick() {
  module.kick(kicks++ % 2 ? -1 : 1);
  kicked = true;
  if (!running) step();
}

function fail() {
  module.fail(DEAD);
  kicked = true;
  if (!running) step();
}

function setUnrest(on) {
  restless = on;
  module.unrest(on ? UNREST : 1);
  $('unrest').setAttribute('aria-pressed', String(on));
}

function step() {
  pause(true);
  update();
  show();
}

// ---- A step and its display ----

function update() {
  module.step();
  view = { ...module.view(), parts: module.parts() };
  panels.follow.remember(view, kicked);
  panels.bits.remember(module.filter());
  kicked = false;
  rate.count++;
}

const put = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; }; // an unchanged text is not read out again
const fixed = (value, digits) => value.toFixed(digits).replace('-', '−');

function show() {
  panels.follow.draw();
  const drawn = panels.inside.draw(module, view, SHOWN);
  panels.bits.draw();
  put('estimate', `${fixed(view.mean, 3)} ± ${view.sd.toFixed(3)}`);
  put('truth', fixed(view.truth, 3));
  put('parts', `${fixed(view.parts.mean, 3)} ± ${view.parts.sd.toFixed(3)}`);
  put('loss', `${view.parts.loss.toFixed(3)} nats`);
  put('acceptance', view.attempts ? `${(100 * view.accepted / view.attempts).toFixed(1)} %` : 'none');
  put('health', HEALTH_TEXT[view.health]);
  $('health').dataset.health = HEALTH[view.health];
  put('evidence', `${fixed(view.logEvidence, 1)} ± ${view.logEvidenceSd.toFixed(1)}`);
  put('flipped', `${panels.bits.changed()} of 512`);
  const dropped = view.attempts > drawn ? `, the first ${drawn.toLocaleString('en')} of them drawn` : '';
  put('story', `Update ${view.step + 1}: ${view.isAnchor ? 'a test of the filter' : 'an experiment'} of time ${view.time.toPrecision(3)} ` +
    `against ${fixed(view.reference, 3)} gave outcome ${view.outcome}. ${view.attempts.toLocaleString('en')} attempts${dropped}; ` +
    `${view.accepted.toLocaleString('en')} accepted.`);
}

function frame(now) {
  const passed = Math.min(now - last, 250);
  last = now;
  if (running) {
    const begun = performance.now(), unlimited = speed() === Infinity;
    due = unlimited ? Infinity : Math.min(due + passed * speed() / 1000, 30);
    let done = 0;
    while (due >= 1 && (done === 0 || performance.now() - begun < BUSY)) {
      update();
      due--;
      done++;
    }
    if (done) show();
  }
  if (now - rate.since > 1000) {
    put('rate', running ? `${Math.round(1000 * rate.count / (now - rate.since))} a second` : 'paused');
    rate = { since: now, count: 0 };
  }
  requestAnimationFrame(frame);
}

// ---- Theme, start, and the loop ----

const panel3 = digits(module, { pad: $('pad'), seen: $('seen'), bars: $('bars'), told: $('told'), slider: $('query'), progress: $('learning') },
  () => stillness.matches);

function repaint() {
  readColours();
  show();
  panel3.draw();
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('theme', theme); } catch { /* storage is blocked: kept for this visit only */ }
  repaint();
}

for (const id of ['attempts', 'drift', 'design', 'kappa', 'adapt', 'speed']) $(id).addEventListener('input', applySettings);
$('seed').addEventListener('change', restart);
const unrest = () => setUnrest(!restless);
const actions = { pause: () => pause(running), step, kick, fail, unrest, restart, theme: toggleTheme, clear: panel3.clear };
for (const [id, action] of Object.entries(actions)) $(id).addEventListener('click', action);
for (const button of document.querySelectorAll('[data-digit]')) button.addEventListener('click', () => panel3.example(Number(button.dataset.digit)));

const keys = { ' ': () => pause(running), s: step, k: kick, d: fail, u: unrest, r: restart, t: toggleTheme, c: panel3.clear };
addEventListener('keydown', event => {
  const own = event.target.closest('input, select, button, a, summary');
  const typing = event.target.matches('input[type=number], select');
  if (event.ctrlKey || event.metaKey || event.altKey || typing || (own && event.key === ' ')) return;
  if (/^[0-9]$/.test(event.key)) panel3.example(Number(event.key));
  else if (keys[event.key.toLowerCase()]) keys[event.key.toLowerCase()]();
  else return;
  event.preventDefault();
});
addEventListener('themechange', repaint);
new ResizeObserver(repaint).observe(document.querySelector('main'));

readColours();
pause(!running);
restart();
panel3.draw();
requestAnimationFrame(now => { last = rate.since = now; frame(now); });
document.documentElement.dataset.ready = String(Math.round(performance.now())); // milliseconds until everything works
setTimeout(panel3.learn, 50);
globalThis.playground = { module, panel3, view: () => view, pause };
