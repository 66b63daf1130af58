// Panel 2: one update. Each attempt is a point: x is the candidate, y a random height. Points below the likelihood are
// accepted.
import { axisBottom, begin, colour, isSeen, polyline, scale } from './plot.js';

const MARGIN = { left: 12, right: 12, top: 20, bottom: 26 };
const WIDE = 3.4; // standard deviations shown on each side

const bell = (x, mean, sd) => Math.exp(-0.5 * ((x - mean) / sd) ** 2) / sd;

export function inside(canvas) {
  const draw = (module, view, most) => {
    const { g, width, height } = begin(canvas);
    const right = width - MARGIN.right, base = height - MARGIN.bottom, middle = Math.round(0.64 * height);
    const parts = view.parts.list, seen = [{ mean: view.priorMean, sd: view.priorSd }, ...parts.filter(isSeen)];
    const low = Math.min(...seen.map(p => p.mean - WIDE * p.sd)), high = Math.max(...seen.map(p => p.mean + WIDE * p.sd));
    const x = scale(low, high, MARGIN.left, right), y = scale(0, Math.max(1, view.kappa), middle, MARGIN.top);
    axisBottom(g, x, low, high, base, width < 500 ? 4 : 7);

    // the likelihood is cut off at κ
    const curve = module.likelihood(low, high), points = Array.from(curve, (p, i) => [x(low + (high - low) * i / (curve.length - 1)), y(p)]);
    g.globalAlpha = 0.1;
    g.fillStyle = colour('accent');
    g.beginPath();
    points.forEach(([px, py]) => g.lineTo(px, Math.max(py, y(view.kappa))));
    g.lineTo(right, middle);
    g.lineTo(MARGIN.left, middle);
    g.fill();
    g.globalAlpha = 1;

    const shown = module.draws(Math.min(view.attempts, most)), isCrowd = shown.count > 600; // squares draw faster than circles
    const size = isCrowd ? 1 : shown.count > 200 ? 1.8 : 2.6;
    for (const accepted of [0, 1]) {
      g.fillStyle = colour(accepted ? 'accent' : 'muted');
      g.globalAlpha = accepted ? 0.9 : 0.42;
      g.beginPath();
      for (let i = 0; i < shown.count; i++) {
        if (shown.whole[3 * i + 2] !== accepted) continue;
        const px = x(shown.real[3 * i]), py = y(shown.real[3 * i + 1]);
        if (px < MARGIN.left || px > right) continue;
        if (isCrowd) {
          g.rect(px - size, py - size, 2 * size, 2 * size);
        } else {
          g.moveTo(px + size, py);
          g.arc(px, py, size, 0, 2 * Math.PI);
        }
      }
      g.fill();
    }
    g.globalAlpha = 1;
    polyline(g, points, colour('ink'), 1.5);
    g.setLineDash([3, 4]);
    polyline(g, [[MARGIN.left, y(view.kappa)], [right, y(view.kappa)]], colour('muted'), 1);
    g.setLineDash([]);
    g.textAlign = 'right';
    g.textBaseline = 'bottom';
    g.fillStyle = colour('muted');
    g.fillText(`κ = ${view.kappa.toPrecision(2)}`, right, y(view.kappa) - 3);

    // below: the Gaussian before and after; beside it the components, each shaded, and their sum
    const steps = 200, along = Array.from({ length: steps + 1 }, (_, i) => low + (high - low) * i / steps);
    along.push(...parts.map(p => p.mean).filter(v => v > low && v < high)); // components of any width get samples at their means
    along.sort((a, b) => a - b);
    const each = parts.map(p => along.map(v => p.weight * bell(v, p.mean, p.sd))), sum = along.map((_, i) => each.reduce((s, p) => s + p[i], 0));
    const tallest = Math.max(bell(0, 0, Math.min(view.sd, view.priorSd)), ...sum), up = scale(0, tallest, base, middle + 14);
    const heights = values => values.map((v, i) => [x(along[i]), up(v)]);
    const shade = (values, name, alpha) => {
      g.globalAlpha = alpha;
      g.fillStyle = colour(name);
      g.beginPath();
      g.moveTo(MARGIN.left, base);
      heights(values).forEach(([px, py]) => g.lineTo(px, py));
      g.lineTo(right, base);
      g.fill();
      g.globalAlpha = 1;
    };
    const after = along.map(v => bell(v, view.mean, view.sd));
    shade(after, 'accent', 0.22);
    each.forEach(values => shade(values, 'parts', 0.22));
    polyline(g, heights(along.map(v => bell(v, view.priorMean, view.priorSd))), colour('muted'), 1.5);
    polyline(g, heights(after), colour('accent'), 2);
    polyline(g, heights(sum), colour('parts'), 1.5);
    polyline(g, [[MARGIN.left, base + 0.5], [right, base + 0.5]], colour('line'), 1);
    polyline(g, [[MARGIN.left, middle + 0.5], [right, middle + 0.5]], colour('line'), 1);
    if (view.truth > low && view.truth < high) {
      g.setLineDash([5, 4]);
      polyline(g, [[x(view.truth), MARGIN.top], [x(view.truth), base]], colour('truth'), 1.5);
      g.setLineDash([]);
    }
    return shown.count;
  };
  return { draw };
}
