import { prove } from '../test/diagnosis/proof.ts';

/** Measures fingerprints of failures, and searches 10,000 logs for secrets. */
export function run() {
  const { stable, colliding, logs, leaks, unharmed } = prove({ seed: 1, logs: 10_000, pairs: 20 });
  const toPercent = (share: number): string => `${(100 * share).toFixed(2)} %`;
  return Promise.resolve([
    {
      what: 'fingerprints that do not depend on values',
      figure: toPercent(stable),
      mustReach: '95 %',
      reached: stable >= 0.95,
    },
    {
      what: 'fingerprints that two programs share',
      figure: toPercent(colliding),
      mustReach: 'below 0.5 %',
      reached: colliding < 0.005,
    },
    {
      what: `secrets left in ${logs.toLocaleString('en')} logs`,
      figure: String(leaks.length),
      mustReach: '0',
      reached: leaks.length === 0,
    },
    {
      what: 'lines without a secret that stay as they are',
      figure: toPercent(unharmed),
      mustReach: '98 %',
      reached: unharmed >= 0.98,
    },
  ]);
}
