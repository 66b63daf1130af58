// The module for the page: calls, and plain objects instead of addresses. See ports/wasm/playground.h.
const VIEW = ['step:u', 'truth', 'mean', 'sd', 'priorMean', 'priorSd', 'time', 'reference', 'outcome', 'isAnchor:u', 'attempts:u',
  'accepted:u', 'kappa', 'delta', 'health:u', 'widened:u', 'logEvidence', 'logEvidenceSd'];
const CURVE = 512, MOST_DRAWS = 4096, PIXELS = 784, CLASSES = 10, MOST_QUERIES = 64, MOST_POINTS = 512, MOST_PARTS = 8;

export const HEALTH = ['tracking', 'suspicious', 'recovering', 'lost', 'fault', 'coarse'];

export async function load(url) {
  const { instance } = await WebAssembly.instantiateStreaming(fetch(url), {});
  return wrap(instance.exports);
}

export function wrap(wasm) {
  const floats = (at, count) => new Float32Array(wasm.memory.buffer, at, count);
  const words = (at, count) => new Uint32Array(wasm.memory.buffer, at, count);
  const bytes = (at, count) => new Uint8Array(wasm.memory.buffer, at, count);
  const accepted = status => { if (status < 0) throw new Error(`the filter refused: status ${status}`); };
  return {
    wasm,
    open: seed => accepted(wasm.track_open(seed)),
    set: ({ attempts, design, kappa, drift }) => accepted(wasm.track_set(attempts, design, kappa, drift)),
    kick: size => wasm.track_kick(size),
    fail: count => wasm.track_fail(count),
    unrest: factor => wasm.track_unrest(factor),
    step: () => accepted(wasm.track_step()),
    view() {
      const at = wasm.track_view(), real = floats(at, VIEW.length), whole = words(at, VIEW.length);
      return Object.fromEntries(VIEW.map((name, i) => name.endsWith(':u') ? [name.slice(0, -2), whole[i]] : [name, real[i]]));
    },
    // the components beside the filter, their mean and sd, and the loss in nats
    parts() {
      const at = wasm.track_parts(), real = floats(at, 3 * MOST_PARTS + 4), count = words(at, 3 * MOST_PARTS + 1)[3 * MOST_PARTS];
      const list = Array.from({ length: count }, (_, i) => ({ weight: real[3 * i], mean: real[3 * i + 1], sd: real[3 * i + 2] }));
      const mean = list.reduce((sum, p) => sum + p.weight * p.mean, 0);
      const sd = Math.sqrt(list.reduce((sum, p) => sum + p.weight * (p.sd ** 2 + (p.mean - mean) ** 2), 0));
      return { list, mean, sd, loss: real[3 * MOST_PARTS + 2] };
    },
    // a copy of the filter's memory
    filter: () => bytes(wasm.track_filter(), wasm.track_filter_bytes()).slice(),
    // the draws, three numbers each: x, height, accepted
    draws(count) {
      const most = Math.min(count, MOST_DRAWS), at = wasm.track_draws(0, most);
      return { count: most, real: floats(at, 3 * most), whole: words(at, 3 * most) };
    },
    likelihood: (low, high) => floats(wasm.track_likelihood(low, high), CURVE),

    learn: count => wasm.digits_learn(count) / wasm.digits_wanted(),
    example: (number, digit) => bytes(wasm.digits_example(number, digit), PIXELS).slice(),
    // strokes: lists of [x, y]; returns the pixels
    draw(strokes) {
      const all = strokes.flatMap(stroke => stroke.map(([x, y], i) => [x, y, i > 0 ? 1 : 0]));
      const every = Math.ceil(all.length / MOST_POINTS);
      const kept = all.filter((point, i) => i % every === 0 || point[2] === 0).slice(0, MOST_POINTS);
      floats(wasm.digits_points(), 3 * MOST_POINTS).set(kept.flat());
      return bytes(wasm.digits_draw(kept.length), PIXELS).slice();
    },
    classify() {
      const at = wasm.digits_classify();
      if (at === 0) throw new Error('the classifier has not seen its digits yet');
      const [digit, queries] = words(at, 2);
      const story = floats(at + 8 + 4 * MOST_QUERIES, queries * CLASSES);
      return {
        digit, queries, asked: Array.from(words(at + 8, queries)),
        story: Array.from({ length: queries }, (_, i) => Array.from(story.subarray(i * CLASSES, (i + 1) * CLASSES))),
      };
    },
  };
}
