import { isFailure } from '../../status/running.ts';
import { type Html, html } from './html.ts';

/** Renders a sign next to the word, because not everybody sees colours. */
export function renderEnding(ending: string): Html {
  if (ending === 'succeeded') return html`<span class="good">✓ succeeded</span>`;
  return isFailure({ ending })
    ? html`<strong class="bad">✗ ${ending}</strong>`
    : html`<span class="off">! ${ending}</span>`;
}
