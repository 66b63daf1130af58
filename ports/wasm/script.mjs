// Plays the scripts that native.c plays, on a module's exports, and returns the same text.
// With node: node script.mjs FILE.wasm < SCRIPT
export function play(wasm, script) {
  const out = [];
  const words = (at, count) =>
    out.push(Array.from(new Uint32Array(wasm.memory.buffer, at, count), word => word.toString(16).padStart(8, '0')).join(' '));
  const refused = status => { if (status < 0) throw new Error('refused'); };
  const calls = {
    open: seed => refused(wasm.track_open(seed)),
    set: (attempts, design, kappa, drift) => refused(wasm.track_set(attempts, design, kappa, drift)),
    kick: size => wasm.track_kick(size),
    fail: count => wasm.track_fail(count),
    unrest: factor => wasm.track_unrest(factor),
    step(count) {
      for (let i = 0; i < count; i++) {
        refused(wasm.track_step());
        words(wasm.track_view(), 18);
        words(wasm.track_filter(), wasm.track_filter_bytes() / 4);
        words(wasm.track_parts(), 28);
      }
    },
    draws: (first, count) => words(wasm.track_draws(first, count), 3 * count),
    curve: (low, high) => words(wasm.track_likelihood(low, high), 512),
    learn() { wasm.digits_learn(wasm.digits_wanted()); },
    example: (number, digit) => words(wasm.digits_example(number, digit), 196),
    point: (index, ...point) => new Float32Array(wasm.memory.buffer, wasm.digits_points(), 1536).set(point, 3 * index),
    draw: count => words(wasm.digits_draw(count), 196),
    classify() {
      const at = wasm.digits_classify(), queries = new Uint32Array(wasm.memory.buffer, at, 2)[1];
      words(at, 2);
      words(at + 8, queries);
      words(at + 8 + 4 * 64, queries * 10);
    },
  };
  for (const line of script.split('\n').map(line => line.trim()).filter(Boolean)) {
    const [name, ...numbers] = line.split(/\s+/);
    calls[name](...numbers.map(Number));
  }
  return out.join('\n') + '\n';
}

if (typeof process !== 'undefined' && process.argv[2]) {
  const { readFileSync, writeSync } = await import('node:fs');
  const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
  const text = play(instance.exports, readFileSync(0, 'utf8'));
  for (let at = 0; at < text.length;) at += writeSync(1, text.slice(at, at + 65536));
}
