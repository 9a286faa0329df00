import type { AboutJob } from '../../status/shown-job.ts';
import { type Html, html } from './html.ts';

/** Lists the configured owner, note and runbook of a job, as facts of a page. */
export function toAboutFacts({ owner, note, runbook }: AboutJob): readonly (readonly [string, Html | undefined])[] {
  const isAddress = runbook !== undefined && /^https?:\/\//i.test(runbook) && URL.canParse(runbook);
  return [
    ['Owner', toShown(owner)],
    ['Note', toShown(note)],
    ['Runbook', isAddress ? html`<a href="${runbook}" rel="noreferrer"><bdi>${runbook}</bdi></a>` : toShown(runbook)],
  ];
}

function toShown(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<bdi>${text}</bdi>`;
}
