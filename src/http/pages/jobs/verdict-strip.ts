import { toDuration } from '../../../domain/ages.ts';
import type { Verdict } from '../../../expected-runs/deciding/watched-job.ts';
import { type Html, html } from '../html.ts';

/** The last decisions about a job as a row of signs, oldest first: each has its own shape, so that colour is not needed. */
export function renderStrip(verdicts: readonly Verdict[]): Html | undefined {
  if (verdicts.length === 0) return undefined;
  const label = `the last ${verdicts.length}, oldest first: ${verdicts.map(({ is }) => is).join(', ')}`;
  const signs = verdicts.map(
    (verdict) => html`<span class="${classes[verdict.is]}" title="${toTitle(verdict)}">${shapes[verdict.is]}</span>`,
  );
  return html`<span role="img" aria-label="${label}">${signs}</span>`;
}

const shapes = { ran: '✓', missed: '✗', off: '–', undecided: '?' } as const;
const classes = { ran: 'good', missed: 'bad', off: 'off', undecided: 'off' } as const;

/** Says in a few words what became of a time. */
export function toTitle(verdict: Verdict): string {
  const at = new Date(verdict.expectedMs).toISOString().slice(0, 16).replace('T', ' ');
  if (verdict.is === 'ran') return `${at}: ran ${toDuration(verdict.delayMs)} late`;
  return verdict.is === 'missed' ? `${at}: missed, ${verdict.reason}` : `${at}: ${verdict.is}`;
}
