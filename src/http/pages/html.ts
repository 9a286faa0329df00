/** Text that is HTML already: made by `html` alone, so that nothing gets into a page unescaped. */
export type Html = { readonly [isHtml]: true; readonly text: string };

const isHtml = Symbol('html');

type Part = string | number | undefined | Html | readonly Html[];

/** A template whose values are escaped, except those that are HTML already; undefined gives nothing. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return trust(texts.map((text, index) => text + toText(parts[index])).join(''));
}

/** For what ships with the daemon, such as its runbooks; never for anything that was read elsewhere. */
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
