import { toDuration } from '../../../domain/ages.ts';
import { isLate } from '../../../expected-runs/deciding/hours.ts';
import type { Verdict } from '../../../expected-runs/deciding/watched-job.ts';
import { type Html, html } from '../html.ts';

/** The last decisions about a job as a row of signs, oldest first: each has its own shape, so that colour is not needed. */
export function renderStrip(verdicts: readonly Verdict[]): Html | undefined {
  if (verdicts.length === 0) return undefined;
  const label = `the last ${verdicts.length}, oldest first: ${verdicts.map(toWord).join(', ')}`;
  const signs = verdicts.map(
    (verdict) =>
      html`<span class="${classes[toWord(verdict)]}" title="${toTitle(verdict)}">${shapes[toWord(verdict)]}</span>`,
  );
  return html`<span role="img" aria-label="${label}">${signs}</span>`;
}

const shapes = { ran: '✓', 'ran late': '!', missed: '✗', off: '–', undecided: '?' } as const;
const classes = { ran: 'good', 'ran late': 'off', missed: 'bad', off: 'off', undecided: 'off' } as const;

function toWord(verdict: Verdict): keyof typeof shapes {
  return isLate(verdict) ? 'ran late' : verdict.is;
}

/** Says in a few words what became of a time. */
export function toTitle(verdict: Verdict): string {
  const at = new Date(verdict.expectedMs).toISOString().slice(0, 16).replace('T', ' ');
  if (verdict.is === 'ran') return `${at}: ran ${toDuration(verdict.delayMs)} late`;
  return verdict.is === 'missed' ? `${at}: missed, ${verdict.reason}` : `${at}: ${verdict.is}`;
}

/** Says what became of a time, with its cause and a link to the run. */
export function renderVerdict(verdict: Verdict, toRun: (id: number) => string): Html {
  if (verdict.is === 'ran') {
    const word = isLate(verdict) ? html`<span class="off">! ran</span>` : html`<span class="good">✓ ran</span>`;
    return html`${word}, ${toDuration(verdict.delayMs)} late: <a href="${toRun(verdict.runId)}">#${verdict.runId}</a>`;
  }
  if (verdict.is === 'undecided') return html`<span class="off">? undecided</span>: ${verdict.why}`;
  const facts = verdict.facts.map(({ fact }) => fact).join('; ');
  const word =
    verdict.is === 'missed'
      ? html`<span class="bad">✗ missed</span>: ${verdict.reason}`
      : html`<span class="off">– off</span>`;
  return html`${word}${facts === '' ? '' : `, ${facts}`}`;
}
