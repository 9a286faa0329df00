/** Escaped HTML. Only `html` creates the type `Html`, so that all text is escaped. */
export type Html = { readonly [isHtml]: true; readonly text: string };

const isHtml = Symbol('html');

type Part = string | number | undefined | Html | readonly Html[];

/** A template that escapes its values, except `Html`; undefined becomes empty. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return trust(texts.map((text, index) => text + toText(parts[index])).join(''));
}

/** Marks a text as safe. Use this function only for text that ships with the exporter, such as runbooks; never for other text. */
export function trust(text: string): Html {
  return { [isHtml]: true, text };
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function toText(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'text' in part ? part.text : part.map(({ text }) => text).join('');
}

/** Renders a table. Columns without a name are omitted. */
export function toTable(heads: readonly (string | Html | undefined)[], rows: readonly Html[]): Html {
  const cells = heads.flatMap((head) => (typeof head === 'string' ? html`<th>${head}</th>` : (head ?? [])));
  return html`<table>
<thead><tr>${cells}</tr></thead>
<tbody>${rows}</tbody>
</table>
`;
}

export function numberHead(name: string): Html {
  return html`<th class="number">${name}</th>`;
}
