import type { Complaints } from '../complaint.ts';
import { formatDuration } from '../values/duration.ts';
import type { Resolved } from './resolve.ts';

/** Complains if counting begins before the catch-up limit: everything further back would be skipped. */
export function checkBackfill(general: ReadonlyMap<string, Resolved>, complaints: Complaints): void {
  const backfill = general.get('executions.backfill');
  const limit = general.get('executions.catch_up_limit');
  const place = backfill?.place ?? limit?.place;
  if (place === undefined || typeof backfill?.value !== 'number' || typeof limit?.value !== 'number') return;
  if (backfill.value <= limit.value) return;
  const [longer, shorter] = [formatDuration(backfill.value), formatDuration(limit.value)];
  const message = `executions.backfill (${longer}) goes beyond executions.catch_up_limit (${shorter})`;
  complaints.add(place, message, 'executions before the limit are skipped: reduce backfill or raise catch_up_limit');
}
