import type { Simulator } from '../../../simulator/simulator.ts';
import type { Dice } from '../../world/dice.ts';
import type { Estate } from './estate.ts';

type TrafficOptions = { readonly simulator: Simulator; readonly estate: Estate; readonly random: Dice };

const endings = ['succeeded', 'succeeded', 'succeeded', 'failed', 'aborted', 'timedout', 'missed', 'odd word'] as const;

/** Ends work between two rounds: short runs, and runs that become visible late. */
export function createTraffic({ simulator, estate, random }: TrafficOptions): (fromMs: number, toMs: number) => void {
  return (fromMs, toMs) => {
    for (let count = random.between(1, 4); count > 0; count -= 1) {
      const { project, jobs } = random.pick(estate.places);
      const jobId = random.pick([undefined, ...jobs]);
      const startedAtMs = random.between(fromMs + 1, toMs);
      const endedAtMs = random.between(startedAtMs, toMs);
      simulator.control.addFinished(project, {
        ...(jobId === undefined ? {} : { jobId }),
        startedAtMs,
        endedAtMs,
        status: random.pick(endings),
        ...(random.between(1, 3) === 1 ? { visibleAtMs: endedAtMs + 1000 * random.between(5, 50) } : {}),
      });
    }
  };
}
