import { toTime } from '../../../domain/ages.ts';
import { isLate, toDelay } from '../../../expected-runs/deciding/hours.ts';
import type { Verdict } from '../../../expected-runs/deciding/watched-job.ts';
import { undecidedBecause } from '../../../expected-runs/deciding/why.ts';
import type { ServerSchedule } from '../../../expected-runs/showing/server-schedule.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';

type Hour = ServerSchedule['hours'][number];
type Known = NonNullable<Hour['known']>;

/** Draws expected and actual runs of the last hours, as bars and numbers. */
export function renderHours({ hours, openCount, nowMs }: ServerSchedule, isSilent: boolean): Html {
  const known = hours.flatMap((hour) => (hour.known === undefined ? [] : [hour.known]));
  const title = html`<section>
<h2>Last 12 hours</h2>
`;
  if (known.length === 0 && openCount === 0)
    return html`${title}<p>No expected start has been checked yet.</p>\n</section>\n`;
  const total = openCount + known.reduce((sum, each) => sum + toDecided(each), 0);
  const missed = known.reduce((sum, each) => sum + toMissed(each), 0);
  const late = known.reduce((sum, each) => sum + each.late, 0);
  const undecided = known.reduce((sum, each) => sum + each.undecided, 0);
  const facts = [
    `${total} expected`,
    `${total - openCount - missed - late - undecided} in time`,
    `${late} late`,
    `${missed} missed`,
    ...(undecided === 0 ? [] : [`${undecided} undecided`]),
    ...(openCount === 0
      ? []
      : [`${openCount} ${isSilent ? 'checked once the server shows them' : 'still being checked'}`]),
  ].join(', ');
  const chart = renderChart({
    caption: `Expected starts by the hour: ${facts}`,
    label: `Expected starts by the hour: ${facts}`,
    bars: hours.map((hour) => toBar(hour, nowMs)),
    ends: [toTime(hours[0]?.startMs ?? nowMs, nowMs), 'now'],
    top: `at most ${Math.max(...hours.map(toExpected))} an hour`,
    least: 1,
  });
  return html`${title}${chart}${renderTable(hours, nowMs)}<p class="note">A run is in time if it starts at most 5 min after its expected time.</p>
</section>
`;
}

function toMissed({ missed }: Known): number {
  return Object.values(missed).reduce((sum, count) => sum + count, 0);
}

function toDecided(hour: Known): number {
  return hour.ran + hour.late + hour.undecided + toMissed(hour);
}

function toExpected({ known = nothing, openCount }: Hour): number {
  return toDecided(known) + openCount;
}

function toBar({ startMs, known, openCount }: Hour, nowMs: number): Bar {
  const from = toTime(startMs, nowMs);
  if (known === undefined && openCount === 0) return { parts: [], label: `from ${from}: unknown` };
  const { ran, late, undecided } = known ?? nothing;
  const missed = toMissed(known ?? nothing);
  const open = openCount === 0 ? '' : `, ${openCount} still being checked`;
  return {
    parts: [
      { height: ran, mood: 'good' },
      { height: late, mood: 'off' },
      { height: undecided, mood: 'plain' },
      { height: missed, mood: 'bad' },
      { height: openCount, mood: 'open' },
    ],
    label: `from ${from}: ${ran} in time, ${late} late, ${missed} missed, ${undecided} undecided${open}`,
  };
}

function renderTable(hours: readonly Hour[], nowMs: number): Html {
  const rows = hours.filter(({ known, openCount }) => known !== undefined || openCount > 0);
  const from = rows[0]?.startMs;
  return html`${toTable(
    ['From', ...counts.map(numberHead), html`<th class="wide">Missed</th>`],
    rows.toReversed().map((hour) => renderRow(hour, nowMs)),
  )}${from === undefined || rows.length === hours.length ? undefined : html`<p class="note">Nothing is known about the time before ${toTime(from, nowMs)}.</p>\n`}`;
}

const counts = ['Expected', 'In time', 'Late', 'Undecided', 'Off', 'Being checked'];

function renderRow(hour: Hour, nowMs: number): Html {
  const { startMs, known = nothing, openCount } = hour;
  const { ran, late, undecided, off } = known;
  const from = html`<th scope="row" class="brief">${toTime(startMs, nowMs)}</th>`;
  const expected = toExpected(hour);
  if (expected + off === 0) return html`<tr>${from}<td colspan="7">no run was expected</td></tr>\n`;
  return html`<tr>${from}${toCell('Expected', expected)}${toCell('In time', ran)}${toCell('Late', late === 0 ? 0 : html`<span class="off">! ${late}</span>`)}${toCell('Undecided', undecided)}${toCell('Off', off)}${toCell('Being checked', openCount)}<td data-is="Missed" class="wide">${renderMissed(known)}</td></tr>\n`;
}

const nothing: Known = { startMs: 0, ran: 0, late: 0, off: 0, undecided: 0, missed: {} };

function toCell(name: string, value: number | Html): Html {
  return value === 0 ? html`<td class="none number">0</td>` : html`<td data-is="${name}" class="number">${value}</td>`;
}

/** Lists the causes of missed runs, most frequent first. */
function renderMissed(hour: Known): Html {
  const count = toMissed(hour);
  if (count === 0) return html`0`;
  const causes = Object.entries(hour.missed)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, of]) => `${of} ${reason.replaceAll('_', ' ')}`);
  return html`<strong class="bad">✗ ${count}</strong>: ${causes.join(', ')}`;
}

/** Renders the last decisions about a job as signs, oldest first. The shapes differ, because not everybody sees colours. */
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

function toTitle(verdict: Verdict): string {
  const at = toTime(verdict.expectedMs, 0);
  if (verdict.is === 'ran') return `${at}: ran ${toDelay(verdict)}`;
  if (verdict.is === 'undecided') return `${at}: undecided${toStarts(verdict)}`;
  return verdict.is === 'missed' ? `${at}: missed, ${verdict.reason}` : `${at}: ${verdict.is}`;
}

function toStarts({ count = 1 }: Extract<Verdict, { is: 'undecided' }>): string {
  return count === 1 ? '' : ` (${count.toLocaleString('en')} starts in this hour)`;
}

export function renderVerdict(verdict: Verdict, toRun: (id: number) => string): Html {
  if (verdict.is === 'ran') {
    const word = isLate(verdict) ? html`<span class="off">! ran</span>` : html`<span class="good">✓ ran</span>`;
    return html`${word} ${toDelay(verdict)}: <a href="${toRun(verdict.runId)}">#${verdict.runId}</a>`;
  }
  if (verdict.is === 'undecided')
    return html`<span class="off">? undecided</span>${toStarts(verdict)}: ${undecidedBecause[verdict.why]}`;
  const facts = verdict.facts.map(({ fact }) => fact).join('; ');
  const word =
    verdict.is === 'missed'
      ? html`<span class="bad">✗ missed</span>: ${verdict.reason}`
      : html`<span class="off">– off</span>`;
  return html`${word}${facts === '' ? '' : `, ${facts}`}`;
}
