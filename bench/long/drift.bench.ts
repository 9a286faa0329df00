import { shapes, simulate } from '../../test/executions/drift-shapes.ts';

/** How often a lasting change of durations is reported where there is none, and after how many runs one is found. */
export async function run() {
  return Object.keys(shapes).map((shape) => {
    const { falseAlarms } = simulate(shape, { runs, tries: 0, factor: 1, seed: 7 });
    const found = [1.5, 2, 3].map((factor) => {
      const { delays } = simulate(shape, { runs: 0, tries, factor, seed: 7 });
      return `×${factor} after ${delays[tries >> 1]} (90 %: ${delays[Math.floor(0.9 * tries)]})`;
    });
    const each = (falseAlarms * 5000) / runs;
    return {
      what: `${shape}: false alarms in 5,000 runs; changes found, in runs: ${found.join(', ')}`,
      figure: each.toFixed(2),
      mustReach: '< 1',
      reached: each < 1,
    };
  });
}

const runs = Number(process.env['DRIFT_RUNS'] ?? 20_000);
const tries = 50;
