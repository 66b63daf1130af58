// Panel 1: the truth, and the filter's 95 % band.
import { axisBottom, axisLeft, begin, colour, isSeen, polyline, scale } from './plot.js';
import { HEALTH } from './rejfilt.js';

const ROOM = 2000;
const MARGIN = { left: 48, right: 12, top: 22, bottom: 36 };

export function follow(canvas) {
  let history = [], range = null;

  const remember = (view, kicked) => {
    history.push({ step: view.step, truth: view.truth, mean: view.mean, sd: view.sd, health: view.health, parts: view.parts.list.filter(isSeen), kicked });
    if (history.length > ROOM) history = history.slice(-ROOM / 2);
  };
  const forget = () => { history = []; range = null; };

  // An interval that shows everything; the shown interval follows it slowly enough for the eye.
  const fit = shown => {
    let low = Infinity, high = -Infinity;
    for (const p of shown) {
      low = Math.min(low, p.truth, p.mean - 2 * p.sd, ...p.parts.map(part => part.mean - part.sd));
      high = Math.max(high, p.truth, p.mean + 2 * p.sd, ...p.parts.map(part => part.mean + part.sd));
    }
    const pad = Math.max(0.08 * (high - low), 0.05);
    low -= pad;
    high += pad;
    range = range ? [Math.min(low, range[0] + 0.06 * (low - range[0])), Math.max(high, range[1] + 0.06 * (high - range[1]))] : [low, high];
  };

  const draw = () => {
    const { g, width, height } = begin(canvas);
    const right = width - MARGIN.right, base = height - MARGIN.bottom;
    const count = Math.max(60, Math.round((right - MARGIN.left) / 3)), shown = history.slice(-count);
    if (shown.length === 0) return;
    fit(shown);
    const last = Math.max(shown[shown.length - 1].step, count - 1), first = last - count + 1;
    const x = scale(first, last, MARGIN.left, right), y = scale(range[0], range[1], base, MARGIN.top);
    axisLeft(g, y, range[0], range[1], MARGIN.left, right, 5);
    axisBottom(g, x, first, last, base, width < 500 ? 4 : 8);
    g.textAlign = 'left';
    g.fillText('frequency', 0, 0);
    g.textAlign = 'right';
    g.fillText('update', right, base + 20);

    for (const p of shown) { // health, along the bottom
      if (p.health === 0) continue;
      g.fillStyle = colour(HEALTH[p.health] === 'suspicious' || HEALTH[p.health] === 'coarse' ? 'warn' : 'bad');
      g.fillRect(x(p.step) - 1.5, base - 5, 3, 5);
    }
    g.setLineDash([4, 4]);
    for (const p of shown.filter(p => p.kicked))
      polyline(g, [[x(p.step), MARGIN.top], [x(p.step), base]], colour('muted'), 1);
    g.setLineDash([]);

    g.save();
    g.beginPath();
    g.rect(MARGIN.left, 0, right - MARGIN.left, base);
    g.clip();
    g.beginPath();
    for (const p of shown) g.lineTo(x(p.step), y(p.mean + 2 * p.sd));
    for (const p of shown.slice().reverse()) g.lineTo(x(p.step), y(p.mean - 2 * p.sd));
    g.closePath();
    g.globalAlpha = 0.22;
    g.fillStyle = colour('accent');
    g.fill();
    g.fillStyle = colour('parts');
    for (const p of shown)
      for (const { weight, mean, sd } of p.parts) { // one standard deviation, shaded by its weight
        g.globalAlpha = 0.5 * weight;
        g.fillRect(x(p.step), y(mean + sd), x(1) - x(0), y(mean - sd) - y(mean + sd));
      }
    g.globalAlpha = 1;
    polyline(g, shown.map(p => [x(p.step), y(p.mean)]), colour('accent'), 2);
    polyline(g, shown.map(p => [x(p.step), y(p.truth)]), colour('truth'), 1.5);
    g.restore();

    const p = shown[shown.length - 1];
    for (const [value, name] of [[p.mean, 'accent'], [p.truth, 'truth']]) {
      g.fillStyle = colour(name);
      g.beginPath();
      g.arc(x(p.step), y(value), 3.5, 0, 2 * Math.PI);
      g.fill();
    }
  };
  return { remember, forget, draw };
}
