// The filter's whole memory, bit by bit; bits changed by the latest update are highlighted.
import { begin, colour } from './plot.js';

const FIELDS = [
  ['seed', 8], ['weight above κ', 8], ['accepted', 4], ['above κ', 4], ['largest P/κ', 4], ['updates', 4],
  ['size, bad values', 8], ['rest of mean', 8], ['Σz²', 8], ['mean', 4], ['sd', 4],
];
const ROW = 4; // bytes per row

export function bits(canvas) {
  let before = null, now = null;
  const remember = bytes => { before = now || bytes; now = bytes; };
  const forget = () => { before = now = null; };
  const changed = () => {
    let count = 0;
    for (let i = 0; now && i < now.length; i++) for (let d = now[i] ^ before[i]; d; d &= d - 1) count++;
    return count;
  };
  const draw = () => {
    const { g, width, height } = begin(canvas);
    if (!now) return;
    const columns = width > 700 ? 2 : 1, label = 112, gap = 28, rows = now.length / ROW / columns;
    const cell = Math.min(((width - gap * (columns - 1)) / columns - label) / (8 * ROW), height / rows);
    const pitch = (label + 8 * ROW * cell) + gap;
    const squares = { faint: new Path2D(), muted: new Path2D(), accent: new Path2D() }; // unset, set, changed
    g.textBaseline = 'middle';
    g.textAlign = 'left';
    g.fillStyle = colour('muted');
    let at = 0;
    for (const [name, length] of FIELDS) {
      for (let byte = at; byte < at + length; byte++) {
        const row = Math.floor(byte / ROW), top = (row % rows) * (height / rows), left = Math.floor(row / rows) * pitch;
        if (byte === at) g.fillText(name, left, top + height / rows / 2);
        for (let bit = 0; bit < 8; bit++) {
          const flipped = (now[byte] ^ before[byte]) >> (7 - bit) & 1, on = now[byte] >> (7 - bit) & 1;
          const x = left + label + ((ROW - 1 - byte % ROW) * 8 + bit) * cell; // the highest byte first
          squares[flipped ? 'accent' : on ? 'muted' : 'faint'].rect(x + 0.5, top + (height / rows - cell) / 2 + 0.5, cell - 1.5, cell - 1.5);
        }
      }
      at += length;
    }
    for (const [name, path] of Object.entries(squares)) {
      g.fillStyle = colour(name);
      g.fill(path);
    }
  };
  return { remember, forget, changed, draw };
}
