// Panel 3: a digit, drawn by hand or generated, and the pixels asked for until its class is decided.
import { begin, colour } from './plot.js';

const SIDE = 28, LEARN_AT_ONCE = 25, NAP = 500, PER_QUERY = 90; // milliseconds

export function digits(module, parts, calm) {
  const { pad, seen, bars, told, slider, progress } = parts;
  let strokes = [], pixels = null, answer = null, examples = 0, ready = false, timer = 0, drawing = false, telling = false;

  bars.replaceChildren(...Array.from({ length: 10 }, (_, digit) => {
    const row = document.createElement('div');
    row.innerHTML = `<span>${digit}</span><span class="track"><span class="fill"></span></span><span class="share"></span>`;
    return row;
  }));

  // ---- Drawing ----

  const drawPad = () => {
    const { g, width } = begin(pad);
    g.strokeStyle = colour('ink');
    g.lineCap = 'round';
    g.lineWidth = width * 0.1;
    for (const stroke of strokes) {
      g.beginPath();
      stroke.forEach(([x, y], i) => i ? g.lineTo(x * width, y * width) : g.moveTo(x * width, y * width));
      if (stroke.length === 1) g.lineTo(stroke[0][0] * width + 0.1, stroke[0][1] * width);
      g.stroke();
    }
    if (strokes.length === 0) {
      g.fillStyle = colour('muted');
      g.textAlign = 'center';
      g.font = g.font.replace('12px', '15px');
      g.fillText(width < 220 ? 'draw here' : 'draw a digit here', width / 2, width / 2);
    }
  };

  const place = event => {
    const box = pad.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const isFar = ([x, y], [u, v]) => Math.hypot(x - u, y - v) > 0.012;

  pad.addEventListener('pointerdown', event => {
    event.preventDefault();
    pad.setPointerCapture(event.pointerId);
    clearTimeout(timer);
    if (strokes.length === 0 || answer) clear();
    drawing = true;
    strokes.push([place(event)]);
    drawPad();
  });
  pad.addEventListener('pointermove', event => {
    if (!drawing) return;
    const stroke = strokes[strokes.length - 1], parts = event.getCoalescedEvents?.() ?? [];
    for (const part of parts.length ? parts : [event])
      if (isFar(place(part), stroke[stroke.length - 1])) stroke.push(place(part));
    drawPad();
  });
  const lift = () => {
    if (!drawing) return;
    drawing = false;
    timer = setTimeout(classifyDrawing, NAP); // wait: another stroke may follow
  };
  pad.addEventListener('pointerup', lift);
  pad.addEventListener('pointercancel', lift);

  // ---- Asking ----

  const at = () => answer ? Math.min(Number(slider.value), answer.queries) : 0;

  const drawSeen = () => {
    const { g, width } = begin(seen), cell = width / SIDE;
    if (!pixels) return;
    const asked = new Map((answer ? answer.asked : []).slice(0, at()).map((pixel, i) => [pixel, i]));
    for (let i = 0; i < pixels.length; i++) {
      const x = i % SIDE * cell, y = Math.floor(i / SIDE) * cell, shade = pixels[i] / 255;
      g.globalAlpha = asked.has(i) ? 0.15 + 0.85 * shade : 0.38 * shade;
      g.fillStyle = colour('ink');
      g.fillRect(x, y, cell + 0.3, cell + 0.3);
      g.globalAlpha = 1;
      if (!asked.has(i)) continue;
      g.strokeStyle = colour(asked.get(i) === at() - 1 ? 'truth' : 'accent');
      g.lineWidth = asked.get(i) === at() - 1 ? 2.5 : 1.5;
      g.strokeRect(x + 0.75, y + 0.75, cell - 1.5, cell - 1.5);
    }
  };

  const showBelief = () => {
    const k = at(), belief = answer && k > 0 ? answer.story[k - 1] : Array(10).fill(0.1);
    const best = belief.indexOf(Math.max(...belief));
    [...bars.children].forEach((row, digit) => {
      row.querySelector('.fill').style.width = `${100 * belief[digit]}%`;
      row.querySelector('.share').textContent = `${(100 * belief[digit]).toFixed(belief[digit] > 0.995 ? 0 : 1)} %`;
      row.classList.toggle('best', answer !== null && digit === best);
    });
    if (!answer) {
      told.textContent = 'Nothing asked yet: every digit is as likely as the others.';
      return;
    }
    const pixel = answer.asked[k - 1];
    told.setAttribute('aria-busy', String(telling)); // read out only when complete
    told.textContent = k === 0 ? 'Nothing asked yet.'
      : `Question ${k} of ${answer.queries}: row ${Math.floor(pixel / SIDE) + 1}, column ${pixel % SIDE + 1}? ` +
        `Answer ${pixels[pixel]}. ` + (k === answer.queries ? `It says ${answer.digit}, having seen ${k} of 784 pixels.` : `Now it leans to ${best}.`);
  };

  const draw = () => { drawPad(); drawSeen(); showBelief(); };

  const stop = () => { clearInterval(timer); telling = false; };
  const show = k => { slider.value = k; drawSeen(); showBelief(); };

  const tell = () => { // one question after the other; all at once if reduced motion is preferred
    slider.max = answer.queries;
    slider.disabled = false;
    stop();
    if (calm()) return show(answer.queries);
    telling = true;
    show(0);
    timer = setInterval(() => {
      const next = Number(slider.value) + 1;
      if (next >= answer.queries) stop();
      show(next);
    }, PER_QUERY);
  };

  const classify = () => {
    if (!ready) return;
    answer = module.classify();
    tell();
  };
  const classifyDrawing = () => {
    if (strokes.flat().length < 2) return;
    pixels = module.draw(strokes);
    classify();
  };
  const clear = () => {
    stop();
    strokes = [];
    pixels = answer = null;
    slider.value = 0;
    slider.disabled = true;
    draw();
  };
  const example = digit => {
    clear();
    pixels = module.example(examples++, digit);
    drawPad();
    classify();
    drawSeen();
  };
  slider.addEventListener('input', () => { stop(); show(Number(slider.value)); });

  // ---- Training, a few digits at a time, so that the page stays responsive ----

  const learn = () => {
    const share = module.learn(LEARN_AT_ONCE);
    progress.value = share;
    if (share < 1) return setTimeout(learn, 0);
    ready = true;
    progress.parentElement.hidden = true;
    if (strokes.length) classifyDrawing();
    else if (pixels) classify();
    else example(3);
  };

  draw();
  return { draw, clear, example, learn, isReady: () => ready, result: () => answer };
}
