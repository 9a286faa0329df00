import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { Memory } from '../domain/memory.ts';
import type { Family, Row } from '../metrics/family.ts';

/** Why a collector gives nothing although nothing failed. */
export const offReasons = ['config', 'version', 'denied', 'not_found', 'meaningless'] as const;
export type OffReason = (typeof offReasons)[number];

/** Why an answer has nothing to tell, and what that means in a sentence. */
export type Off = { readonly reason: OffReason; readonly message: string };

type Families = Readonly<Record<string, Family>>;

export type CollectorDefinition<Answer, Metrics extends Families> = {
  /** The value of `collector` in metrics, and the name in configuration. */
  readonly name: string;
  /** One line for `--help` and the reference. */
  readonly help: string;
  /** How often, as configuration writes durations. */
  readonly every: string;
  /** Whether it runs unless configuration says otherwise. */
  readonly on: boolean;
  /** Vital polls decide `automation_up` and readiness. */
  readonly vital?: boolean;
  /** The endpoints it may ask; `check` tries each. */
  readonly reads: readonly Endpoint<unknown>[];
  readonly metrics: Metrics;
  /** I/O and nothing else. */
  readonly fetch: (api: Api) => Promise<Answer>;
  /** Where the answer has nothing to tell: why. No series, and the collector is reported as off. */
  readonly off?: (answer: Answer) => Off | undefined;
  /** What to keep for the next poll; pure. */
  readonly remember?: (answer: Answer, before: Memory, nowMs: number) => Memory;
  /** Pure: no I/O, clock or log. */
  readonly map: (answer: Answer, metrics: Metrics, memory: Memory) => Row[];
};

/** A collector as the schedule sees it, whatever its answers are. */
export type Collector = Pick<
  CollectorDefinition<unknown, Families>,
  'name' | 'help' | 'every' | 'on' | 'reads' | 'metrics'
> & {
  readonly vital: boolean;
  readonly collect: (api: Api, before: Memory, now: () => number) => Promise<Collected>;
};

export type Collected =
  | { readonly off: Off }
  | { readonly off?: undefined; readonly rows: readonly Row[]; readonly memory: Memory };

export function defineCollector<Answer, const Metrics extends Families>(
  definition: CollectorDefinition<Answer, Metrics>,
): Collector {
  const { fetch, map, off: findOff, remember, ...data } = definition;
  return {
    vital: false,
    ...data,
    collect: async (api, before, now) => {
      const answer = await fetch(api);
      const off = findOff?.(answer);
      if (off !== undefined) return { off };
      const memory = remember?.(answer, before, now()) ?? before;
      return { rows: map(answer, data.metrics, memory), memory };
    },
  };
}
