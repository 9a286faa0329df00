import { shapes, simulate } from '../../test/domain/durations/drift-shapes.ts';

/** Measures false reports of changed durations, and the delay of true reports. */
export async function run() {
  return Object.keys(shapes).flatMap((shape) => {
    const { falseAlarms } = simulate(shape, { runs, tries: 0, factor: 1, seed: 7 });
    const each = (falseAlarms * 5000) / runs;
    const delays = factors.map((factor) => simulate(shape, { runs: 0, tries, factor, seed: 7 }).delays);
    const [half, most] = [0.5, 0.9].map((share) => delays.map((sorted) => sorted[Math.floor(share * tries)] ?? 0));
    return [
      { what: `${shape}: false alarms in 5,000 runs`, figure: each.toFixed(2), mustReach: '< 1', reached: each < 1 },
      {
        what: `${shape}: half of the changes ×${factors.join(', ×')} are found within this number of runs`,
        figure: `${half?.join(', ')} (90 %: ${most?.join(', ')})`,
        ...toGoal(shape, half),
      },
    ];
  });
}

/** Returns the limits for jobs whose durations vary by a quarter. */
function toGoal(shape: string, [small = 0, double = 0]: readonly number[] = []) {
  if (shape !== 'narrow lognormal') return { mustReach: 'anything', reached: true };
  return { mustReach: '<= 8, <= 5', reached: small <= 8 && double <= 5 };
}

const factors = [1.5, 2, 3];
const runs = Number(process.env['DRIFT_RUNS'] ?? 50_000);
const tries = 100;
