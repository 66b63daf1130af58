// Shared by the pictures: a canvas sharp on every screen, the theme's colours, scales and axes.
let palette = {};
const probe = document.createElement('span');

export function readColours() {
  probe.hidden = true;
  document.body.append(probe);
  for (const name of ['ink', 'muted', 'line', 'surface', 'accent', 'parts', 'truth', 'warn', 'bad', 'faint']) {
    probe.style.color = `var(--${name})`;
    palette[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

export const colour = name => palette[name];

// Is the component's weight large enough to need room in the picture?
export const isSeen = part => part.weight > 0.02;

// Clears the canvas and returns its context, in CSS pixels.
export function begin(canvas) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  g.lineJoin = 'round';
  return { g, width, height };
}

export const scale = (low, high, from, to) => value => from + (value - low) / (high - low) * (to - from);

// About `wanted` round numbers between low and high.
export function ticks(low, high, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= 0.7 * rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

const sign = text => text.replace('-', '−');

export function axisLeft(g, y, low, high, left, right, wanted) {
  const { found, digits } = ticks(low, high, wanted);
  g.lineWidth = 1;
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  for (const value of found) {
    g.strokeStyle = colour('faint');
    g.beginPath();
    g.moveTo(left, Math.round(y(value)) + 0.5);
    g.lineTo(right, Math.round(y(value)) + 0.5);
    g.stroke();
    g.fillStyle = colour('muted');
    g.fillText(sign(value.toFixed(digits)), left - 8, y(value));
  }
}

export function axisBottom(g, x, low, high, base, wanted) {
  const { found, digits } = ticks(low, high, wanted);
  g.textAlign = 'center';
  g.textBaseline = 'top';
  g.fillStyle = colour('muted');
  g.strokeStyle = colour('line');
  for (const value of found) {
    g.beginPath();
    g.moveTo(Math.round(x(value)) + 0.5, base);
    g.lineTo(Math.round(x(value)) + 0.5, base + 4);
    g.stroke();
    g.fillText(sign(value.toFixed(digits)), x(value), base + 7);
  }
}

export function polyline(g, points, style, width) {
  g.strokeStyle = style;
  g.lineWidth = width;
  g.beginPath();
  points.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y));
  g.stroke();
}
