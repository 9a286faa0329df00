import { toAge } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/sizes.ts';
import type { TracesStatus } from '../../../status/status.ts';

/** Summarises the delivery of traces in a few words. */
export function toTracesText(traces: TracesStatus | undefined, nowMs: number): string {
  if (traces === undefined) return 'The state cannot be read';
  const { delivery, waiting, oldestMs, quarantine } = traces;
  if (delivery === undefined) return 'Off; how to switch them on';
  const facts = [
    delivery.failing === undefined ? undefined : '✗ delivery fails',
    quarantine === 0 ? undefined : `✗ ${quarantine.toLocaleString('en')} quarantined`,
    waiting === 0
      ? undefined
      : `${toCount(waiting, 'trace')} to deliver${oldestMs === undefined ? '' : `, the first finished ${toAge(oldestMs, nowMs)}`}`,
  ].filter((fact) => fact !== undefined);
  return facts.length === 0 ? 'All delivered' : facts.join('; ');
}
