import type { Memory } from '../domain/memory.ts';
import type { ProjectCollector, ServerCollector } from './collector.ts';
import type { Outcome } from './outcome.ts';
import { createProjectSweep } from './project-sweep.ts';
import { type Reading, type ReadingOptions, toValidityMs } from './reading.ts';

type ServerReadingOptions = ReadingOptions & { collector: ServerCollector };

export function createServerReading(options: ServerReadingOptions): Reading {
  const { key, collector, everyMs, timeoutMs, client, watch, publisher, clock } = options;
  const memories = createMemories(options);

  async function read(signal: AbortSignal): Promise<Outcome> {
    const before = await memories.recall();
    const lane = collector.vital ? 'vital' : 'normal';
    const wholeMs = Math.max(everyMs, maxTimeouts * timeoutMs);
    const api = client.within({ lane, forMs: timeoutMs, wholeMs, signal });
    const collected = await collector.collect(api, watch, before, clock.now);
    if (collected.off !== undefined) return { result: 'off', ...collected.off };
    const { rows, memory, complaints, news } = collected;
    const series = await publisher.publish(rows, toValidityMs(everyMs));
    if (memory !== before) await memories.remember(memory);
    if (news !== undefined) {
      const { level, message, ...about } = news;
      options.log[level]({ server: key.server, ...(key.member && { member: key.member }), ...about }, message);
    }
    return { result: 'success', series, complaints };
  }

  return { read, withdraw: publisher.withdraw };
}

/** How many timeouts a poll may last beyond its interval, because it may send several requests to a slow server. */
const maxTimeouts = 3;

/** Stores the memory of a collector. The memory is read once and written on change. If the disk fails, only the memory is lost. */
function createMemories({ key, state, log }: ServerReadingOptions) {
  const { server, member, collector } = key;
  const owner = { server: member === undefined ? server : `${server}/${member}`, collector };
  let known: Memory | undefined;
  return {
    recall: async (): Promise<Memory> => {
      try {
        known ??= (await state.recall(owner)) ?? {};
      } catch (error) {
        log.error({ ...key, error }, 'stored collector state unreadable');
        known = {};
      }
      return known;
    },
    remember: async (memory: Memory): Promise<void> => {
      known = memory;
      try {
        await state.remember(owner, memory);
      } catch (error) {
        log.error({ ...key, error }, 'collector state not saved');
      }
    },
  };
}

export function createCollectorReading(
  collector: ServerCollector | ProjectCollector,
  options: ReadingOptions,
): Reading {
  return collector.kind === 'project'
    ? createProjectSweep({ ...options, collector })
    : createServerReading({ ...options, collector });
}
